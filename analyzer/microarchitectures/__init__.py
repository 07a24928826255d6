"""All parameters of all microarchitectures: one file per family, one registry."""
