"""Likely mistakes in the functions of a text. Each check is a file here and a line in ``registry``."""
