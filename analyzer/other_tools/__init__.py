"""Other throughput predictors, if installed: their figures for the same instructions."""
