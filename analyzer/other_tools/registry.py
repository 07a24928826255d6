"""List of the other tools. To add one, add a file beside this one and an entry here."""

from cyclelens.analyzer.other_tools.llvm_mca import LLVM_MCA
from cyclelens.analyzer.other_tools.osaca import OSACA
from cyclelens.analyzer.other_tools.tool import Tool

TOOLS: tuple[Tool, ...] = (LLVM_MCA, OSACA)
