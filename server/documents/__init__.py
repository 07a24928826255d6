"""What the server knows about open documents and their folders."""
