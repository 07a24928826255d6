"""The cycle-accurate pipeline: one file per unit; pipeline.py alone holds the clock and orders the stages.

State lives in integer columns; an instruction, a uop or a result in flight is an index into them.
"""

import os

from cyclelens.analyzer.simulator.form import take_compiled

if not os.environ.get("CYCLELENS_PLAIN"):
    take_compiled()
