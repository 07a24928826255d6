"""The messages from the worker process to the server, and how they are kept small."""
