"""The shipped instruction tables; made by ``cyclelens data import``, sources in SOURCES.md."""
