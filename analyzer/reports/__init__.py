"""An analysis to text or JSON, one format per file; reports never simulate."""
