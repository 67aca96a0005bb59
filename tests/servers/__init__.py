"""Servers for the tests: llama.cpp's own with the tiny Llama, and one that misbehaves on request."""
