"""Instructions and facts to uop templates: expansion, micro- and macro-fusion, unlamination, merges."""
