"""Hazard detectors, one kind per file: each takes a prediction and yields findings. They are listed in
``findings.py``."""
