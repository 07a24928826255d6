"""Where control goes: graphs, blocks, natural loops."""
