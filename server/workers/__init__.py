"""The worker process, from the inside and from the outside."""
