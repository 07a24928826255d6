"""The environment variable for the file with the memory levels of the user's machine."""

MACHINE_FILE = "CYCLELENS_MACHINE_FILE"
"""Environment variable with the path of the file, for users who name none by option, setting or project."""
