"""The cycle-accurate pipeline: one file a unit; pipeline.py alone holds the clock and orders the stages.

State lives in integer columns; an instruction, a uop or a result in flight is an index into them.
"""
