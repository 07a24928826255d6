# cython: language_level=3, infer_types=True, annotation_typing=False, embedsignature=True, auto_pickle=False
# cython: wraparound=False, initializedcheck=False, cdivision=True, nonecheck=False
"""The cycle-accurate core: one compiled module, with a file for every stage and policy."""

cimport cython
from libc.stdlib cimport free, realloc
from libc.string cimport memcmp, memcpy, memset

from array import array
from itertools import count
from math import ceil

from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.model.account import Account, Area, Cause
from cyclelens.analyzer.model.buffer import Buffer
from cyclelens.analyzer.model.choices import MeasuredIn, Pointers
from cyclelens.analyzer.model.options import DEFAULT
from cyclelens.analyzer.model.simulation import (
    FailedForward,
    Input,
    LineUsage,
    Refusal,
    Scheduling,
    Simulation,
    Trace,
    TraceRow,
)
from cyclelens.analyzer.model.units import Role
from cyclelens.analyzer.model.uops import STORE_ORDER, MacroOps, ValueKind
from cyclelens.analyzer.simulator.failures import Cancelled, SimulationStuck
from cyclelens.analyzer.simulator.ranges import check_core
from cyclelens.analyzer.simulator.run_request import RunRequest
from cyclelens.analyzer.uops.effects import effect_of
from cyclelens.analyzer.uops.memory_renaming import stands_alone, takes_over
from cyclelens.analyzer.uops.values import access_bytes
from cyclelens.analyzer.uops.op_cache import layout
from cyclelens.analyzer.uops.operands import added_constant
from cyclelens.analyzer.uops.rebinding import Original, Sibling
from cyclelens.analyzer.uops.rename_keys import KEYS
from cyclelens.analyzer.uops.templates import merge_uop, sync_uop
from cyclelens.analyzer.uops.values import symbol_delta, symbol_rule, value_rule
from msgspec.structs import replace

include "tables/constants.pxi"
include "tables/rows.pxi"
include "tables/arrays.pxi"
include "tables/flat.pxi"
include "tables/flat_siblings.pxi"
include "canonical_keys.pxi"
include "tables/program.pxi"
include "tables/ranges.pxi"
include "back_end/addition.pxi"
include "back_end/alternation.pxi"
include "tables/tables.pxi"
include "tables/entries.pxi"
include "tables/queues.pxi"
include "back_end/binding.pxi"
include "back_end/dispatch_rule.pxi"
include "back_end/picker.pxi"
include "back_end/bound_unit.pxi"
include "back_end/shared_results.pxi"
include "back_end/chance.pxi"
include "back_end/commit_rule.pxi"
include "back_end/eight_ports.pxi"
include "back_end/elimination.pxi"
include "back_end/scheduler_choice.pxi"
include "tables/in_flight.pxi"
include "back_end/alu_group.pxi"
include "back_end/emptiest_scheduler.pxi"
include "tables/operations.pxi"
include "back_end/emulator.pxi"
include "back_end/every_move.pxi"
include "back_end/fences.pxi"
include "back_end/turns.pxi"
include "back_end/fewest_waiting.pxi"
include "back_end/resources.pxi"
include "back_end/issue_group.pxi"
include "back_end/late_operands.pxi"
include "back_end/memory_renaming.pxi"
include "back_end/learnt_pairs.pxi"
include "back_end/line_commit.pxi"
include "back_end/load_renaming.pxi"
include "back_end/load_words.pxi"
include "back_end/one_page.pxi"
include "tables/macro_tables.pxi"
include "back_end/macro_memory.pxi"
include "back_end/load_queue.pxi"
include "back_end/memory_group.pxi"
include "back_end/macro_renamer.pxi"
include "back_end/macro_scheduler.pxi"
include "back_end/memory.pxi"
include "back_end/move_elimination.pxi"
include "back_end/third_sources.pxi"
include "back_end/oldest_ready.pxi"
include "back_end/chance_pipe.pxi"
include "back_end/owed_constants.pxi"
include "back_end/random_ports.pxi"
include "back_end/least_loaded.pxi"
include "back_end/renamer.pxi"
include "back_end/reorder_buffer.pxi"
include "back_end/same_registers.pxi"
include "back_end/same_names.pxi"
include "back_end/scheduler.pxi"
include "back_end/six_ports.pxi"
include "back_end/stack_or_learnt.pxi"
include "back_end/store_buffer.pxi"
include "back_end/store_pairs.pxi"
include "back_end/store_queue.pxi"
include "back_end/ten_ports.pxi"
include "back_end/twelve_ports.pxi"
include "back_end/two_stores.pxi"
include "back_end/store_gathering.pxi"
include "back_end/wasted_slots.pxi"
include "back_end/wide_memory.pxi"
include "steady_state.pxi"
include "iterations.pxi"
include "clock.pxi"
include "tables/layout.pxi"
include "front_end/code_fetch.pxi"
include "front_end/decoder.pxi"
include "front_end/dsb.pxi"
include "front_end/front_end.pxi"
include "front_end/lsd.pxi"
include "front_end/microcode_sequencer.pxi"
include "front_end/predecoder.pxi"
include "front_end/stack_engine.pxi"
include "front_end/intel.pxi"
include "front_end/op_cache.pxi"
include "front_end/simple_front_end.pxi"
include "address_replay.pxi"
include "policies.pxi"
include "macro_pipeline.pxi"
include "results/accounting.pxi"
include "results/tally.pxi"
include "uop_pipeline.pxi"
include "results/summary.pxi"
include "pipeline_pool.pxi"
include "pipeline.pxi"
