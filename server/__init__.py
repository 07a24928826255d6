"""The language server: shows stored analyses to an editor and computes nothing about processors itself."""
