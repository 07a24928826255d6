"""Large sets of blocks, predicted part by part, so that a run can be stopped, resumed, and spread over
machines."""
