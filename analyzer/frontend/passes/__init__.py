"""One text, read by the front end itself or by the user's assembler."""
