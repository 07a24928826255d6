"""The time of a loop whose data are not in the first-level cache."""
