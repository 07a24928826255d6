"""Control flow analysis: graphs, basic blocks, natural loops."""
