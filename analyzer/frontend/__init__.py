"""Assembly front end: turns texts and object files into regions of instructions, each mapped to its source
line."""
