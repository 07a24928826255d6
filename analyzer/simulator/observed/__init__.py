"""Results of a run: figures, trace and account."""
