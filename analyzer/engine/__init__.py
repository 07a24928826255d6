"""Analyses, predictions and experiments, and the workspace that they are handed."""
