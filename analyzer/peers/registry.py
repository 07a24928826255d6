"""The visible list of tools beside ours. A new one is a file beside this one and a line here."""

from cyclelens.analyzer.peers.llvm_mca import LLVM_MCA
from cyclelens.analyzer.peers.osaca import OSACA
from cyclelens.analyzer.peers.peer import Peer

PEERS: tuple[Peer, ...] = (LLVM_MCA, OSACA)
