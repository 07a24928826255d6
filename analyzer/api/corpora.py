"""Corpora in parts, for programs that distribute the parts themselves (docs/corpora.md).

>>> from cyclelens import corpora
>>> found = corpora.parts("blocks.parquet", "figures.parquet", ["SKL"])  # doctest: +SKIP
>>> for part in found:  # doctest: +SKIP
...     corpora.predict_part(part)
>>> corpora.join(found, "figures.parquet")  # doctest: +SKIP
"""

from cyclelens.analyzer.corpora.formats import CorpusError, RowRange
from cyclelens.analyzer.corpora.parts import Part, join, parts, predict_part

__all__ = ["CorpusError", "Part", "RowRange", "join", "parts", "predict_part"]
