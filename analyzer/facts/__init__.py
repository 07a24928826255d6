"""The instruction tables: their one reader, the matching of an encoding to a record, and their importer."""
