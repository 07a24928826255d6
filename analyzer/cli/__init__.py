"""Subcommands of the command line, one per file; ``cyclelens.analyzer.cli.main`` lists them."""
