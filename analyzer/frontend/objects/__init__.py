"""What somebody has assembled: ELF files, their lines, functions and loops."""
