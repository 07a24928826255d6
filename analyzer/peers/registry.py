"""List of peer tools. To add one, add a file beside this one and an entry here."""

from cyclelens.analyzer.peers.llvm_mca import LLVM_MCA
from cyclelens.analyzer.peers.osaca import OSACA
from cyclelens.analyzer.peers.peer import Peer

PEERS: tuple[Peer, ...] = (LLVM_MCA, OSACA)
