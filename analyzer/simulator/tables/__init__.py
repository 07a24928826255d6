"""Data that the stages share: columns of the block and of uops in flight, and the queues between stages."""
