"""The instruction tables: their reader, the matching of encodings to records, and their importer."""
