"""What several features display: instruction costs, advice, columns, links."""
