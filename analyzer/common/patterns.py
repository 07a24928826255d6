"""Regular expressions that are compiled when they are first used. An analysis defines nearly 200, which take
a tenth of its time if all are compiled; most texts need a quarter of them."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    pattern = re.compile
else:

    class pattern:
        """As ``re.compile`` makes it, for use by its methods."""

        def __init__(self, text, flags=0):
            self.pattern = text
            self._flags = flags

        def __getattr__(self, name):
            if name == "_compiled":
                self._compiled = re.compile(self.pattern, self._flags)
                return self._compiled
            value = getattr(self._compiled, name)
            # From now on without coming here.
            setattr(self, name, value)
            return value
