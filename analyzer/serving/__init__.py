"""The page of ``cyclelens serve``: what it asks, and the files that it is made of."""
