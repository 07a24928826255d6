"""What the tests of the server share: a client that is an editor, engines that fail on demand, processes."""
