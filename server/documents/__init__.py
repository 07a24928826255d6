"""What the server knows about open documents and the folders that they stand in."""
