"""One file per LSP method; a handler only reads stored results."""
