"""Where a user's own instruction tables are named."""

OWN_TABLES = "CYCLELENS_DATA"
"""Environment variable with their path. ``--data PATH`` sets it, also for processes that are started."""
