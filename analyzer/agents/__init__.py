"""What coding agents ask: short answers about a text, and a server of the Model Context Protocol that gives
them."""
