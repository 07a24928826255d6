"""What the language server protocol asks of every server: messages, positions, progress."""
