"""The worker process, seen from inside and from outside."""
