"""Sorts blocks into categories by latent Dirichlet allocation over used ports, as BHive's paper does.

A block is a document, and each of its uops is a word: the set of ports that may execute it (Chen and others,
2019, section on the classification of blocks). The paper has six categories and the priors 1/6 and 1/13; a
block belongs to its most likely category.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cyclelens.analyzer.common.extras import lacking
from cyclelens.analyzer.evaluation.files import DatasetError

TOPICS = 6
_DOCUMENT_PRIOR, _WORD_PRIOR = 1 / 6, 1 / 13
_SHOWN = 3
"""Port sets in the name of a category."""
NO_UNITS = "no units"


def topics(blocks: Sequence[Mapping[str, int]]) -> list[str]:
    """The category of each block, given its uops by the units that may execute them.

    A category is named by its number and its most frequent port sets. The same blocks have the same
    categories. Raises ``DatasetError`` if scikit-learn is not installed."""
    try:
        from sklearn.decomposition import LatentDirichletAllocation
        from sklearn.feature_extraction import DictVectorizer
    except ImportError:
        raise DatasetError(lacking("Categories by LDA need", "scikit-learn", "topics")) from None
    used = [dict(block) for block in blocks if block]
    if not used:
        return [NO_UNITS] * len(blocks)
    words = DictVectorizer()
    counts = words.fit_transform(used)
    model = LatentDirichletAllocation(
        TOPICS, doc_topic_prior=_DOCUMENT_PRIOR, topic_word_prior=_WORD_PRIOR, random_state=0
    )
    shares = model.fit_transform(counts)
    names = []
    for number, weights in enumerate(model.components_, start=1):
        most = sorted(zip(weights / weights.sum(), words.feature_names_, strict=True), reverse=True)
        names.append(f"{number}: " + " ".join(f"{units} {share:.0%}" for share, units in most[:_SHOWN]))
    chosen = iter(shares.argmax(axis=1))
    return [names[next(chosen)] if block else NO_UNITS for block in blocks]
