"""What the worker process tells the server, and how little of it is sent."""
