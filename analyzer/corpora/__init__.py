"""Large sets of blocks: predicted part by part, so that a run can be stopped, spread over machines and taken
up again."""
