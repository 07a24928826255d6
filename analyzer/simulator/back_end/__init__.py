"""The back end: from the renamer to retirement."""
