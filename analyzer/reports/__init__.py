"""An analysis to text or JSON, one format a file; reports never simulate."""
