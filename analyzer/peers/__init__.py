"""Other tools that predict throughput, where they are installed: what they say of the same instructions."""
