"""Language models, on this machine or behind a server, and the store of their answers."""
