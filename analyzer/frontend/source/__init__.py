"""What needs no assembler: lines, strings, comments, dialect, markers of regions."""
