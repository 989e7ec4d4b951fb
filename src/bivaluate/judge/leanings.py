"""Which way a measure leans when K grows, whatever the data: said where no null stands beside it."""

from __future__ import annotations

from typing import NamedTuple


class Leaning(NamedTuple):
    """The end of a sweep over K that a measure prefers, and why, in a sentence."""

    to: str
    sentence: str


LEANINGS = {
    "asr": Leaning(
        "large", "ASR leans to large K: more and smaller blocks have smaller residues even in random partitions."
    ),
    "avg_ve": Leaning(
        "large", "AvgVE leans to large K: more and smaller blocks have smaller errors even in random partitions."
    ),
    "nsr": Leaning("small", "NSR leans to small K, on random partitions too."),
    "nve": Leaning(
        "neither", "NVE praises small blocks, because its denominator always holds larger ones: do not choose K by it."
    ),
    "nve_cov": Leaning("small", "NVE_cov leans to small K: few large blocks cover most for their error."),
    "cc": Leaning("small", "CC leans to small K: every further bicluster lowers the separation of the others."),
    "anve": Leaning("small", "aNVE leans to small K: it averages over biclusters, and the strongest come first."),
    "coverage": Leaning("large", "Coverage leans to large K: every further bicluster can only add cells."),
    "avg_ave": Leaning("small", "avg aVE leans to small K where an algorithm finds its strongest biclusters first."),
    "avg_z": Leaning("small", "avg z leans to small K: it praises large blocks."),
}
