"""An analysis to hints in editor words, one kind per file."""
