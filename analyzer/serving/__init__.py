"""The page of ``cyclelens serve``: its requests, and the files it consists of."""
