"""From the renamer to retirement."""
