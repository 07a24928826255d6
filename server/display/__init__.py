"""What several features show alike: figures of instructions, advice, columns, links."""
