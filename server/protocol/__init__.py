"""Parts of the language server protocol that every server needs: messages, positions, progress."""
