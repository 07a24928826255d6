"""What runs beside the analysis: searches after it, and what a user asks for by command."""
