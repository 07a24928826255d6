"""What the stages share: the block and what is in flight, as columns, and the queues between stages."""
