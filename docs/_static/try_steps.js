// The models of the page "Try it": MiniLM and the checker's reader by onnxruntime-web, all from this site. Python asks
// them through `embed` and `read`, in JSON.
const WIDTH = 384;
const place = (name) => new URL(name, import.meta.url);
const drawn = () => new Promise((done) => setTimeout(done)); // lets the browser draw what has been said

async function unpacked(name) {
  const found = await fetch(place(`models/${name}.bin`));
  if (!found.ok) throw new Error(`${name}.bin could not be loaded (${found.status})`);
  const content = found.body.pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(content).arrayBuffer());
}

export async function load(say) {
  say("Loading the models (30 MB, once)…");
  const ort = await import(place("models/ort.mjs").href);
  const [wasm, ...models] = await Promise.all(["ort", "embed", "read"].map(unpacked));
  say("Unpacking the models…");
  await drawn();
  Object.assign(ort.env.wasm, { wasmBinary: wasm, numThreads: 1 });
  const options = { executionProviders: ["wasm"], extra: { session: { disable_quant_qdq: "1" } } };
  const sessions = [];
  for (const model of models) sessions.push(await ort.InferenceSession.create(model, options));
  return { ort, sessions };
}

export function calls({ ort, sessions: [embedder, reader] }, say) {
  const states = []; // of each sentence's tokens
  return {
    async embed(given) {
      say(`Embedding sentence ${states.length + 1}…`);
      await drawn();
      const ids = BigInt64Array.from(JSON.parse(given).map(BigInt));
      const found = await embedder.run({ ids: new ort.Tensor("int64", ids, [1, ids.length]) });
      states.push(found.states.data);
      return JSON.stringify([...found.vector.data]);
    },
    async read(given) {
      say("Checking…");
      await drawn();
      const [places, marks] = JSON.parse(given);
      const joined = new Float32Array(marks.length * WIDTH);
      let end = 0;
      for (const [order, place] of places.entries()) {
        const part = states[place].subarray(order ? WIDTH : 0); // the first [CLS] is the pair's
        joined.set(part, end);
        end += part.length;
      }
      const found = await reader.run({
        states: new ort.Tensor("float32", joined, [1, marks.length, WIDTH]),
        marks: new ort.Tensor("float32", Float32Array.from(marks.flat()), [1, marks.length, 6]),
      });
      return JSON.stringify([...found.shares.data]);
    },
  };
}
