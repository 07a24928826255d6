"""Every parameter of every microarchitecture: one file a family, one registry."""
