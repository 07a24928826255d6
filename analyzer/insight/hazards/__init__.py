"""Hazard detectors, one kind per file, listed in ``findings.py``. Each takes a
prediction and yields findings."""
