"""Run llama.cpp's server on a gguf file: python llama_cpp.py MODEL PARALLEL. Ends with its standard input."""

import sys

import xllamacpp


def main() -> None:
    path, parallel = sys.argv[1:3]
    params = xllamacpp.CommonParams()
    params.model.path = path
    params.hostnames = ["127.0.0.1"]
    params.port = 0  # any that is free
    params.n_ctx = 8192
    params.n_parallel = int(parallel)
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.n_gpu_layers = 0
    params.warmup = False
    params.verbosity = -1
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
