"""What every room may use: the log, files, caches, names that come near."""
