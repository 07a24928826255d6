"""Work beside the analysis: background searches, and tasks that a user starts by command."""
