"""Hazard detectors, one kind a file: each takes a prediction and yields findings. They are listed in
``findings.py``."""
