"""One file per LSP method. A handler reads what is stored and never waits for an analysis."""
