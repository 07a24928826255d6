"""Runs analyses, predictions and experiments on a shared workspace."""
