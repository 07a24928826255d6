"""The environment variable for a user's own instruction tables."""

OWN_TABLES = "CYCLELENS_DATA"
"""Environment variable with the path of the tables. ``--data PATH`` sets it, also for child processes."""
