"""Three doors to the analyzer, chosen by who calls, and the workspace that is handed in."""
