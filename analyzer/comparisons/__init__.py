"""One region beside something else, one kind of comparison a file; each answers with a table."""
