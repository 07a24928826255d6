"""Subcommands of the command line, one a file; ``cyclelens.analyzer.cli`` lists them."""
