"""What a run has shown: figures, trace and account."""
