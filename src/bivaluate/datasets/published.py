"""The numbers the NVE paper prints, read from published.toml, each table with the place it stands in.

Measures, algorithms and data sets carry the keys used everywhere else in bivaluate.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PAPER = (
    "Tiwari P., Navin Kumar I., Bezdek J. C., Rathore P., "
    "NVE: A Separability and Coverage-Aware Internal Validation Metric for Biclustering, arXiv 2608.29045"
)


@dataclass(frozen=True)
class Winner:
    """The algorithm that most often has the best score under a measure, and on how many of ten scenarios."""

    algorithm: str
    wins: int


@dataclass(frozen=True)
class Pick:
    """The algorithm and number of biclusters a measure chooses on a data set."""

    algorithm: str
    k: int


def _words(table: dict[str, Any]) -> dict[Any, Any]:
    return {tuple(key.split()): value for key, value in table.items()}


_TABLES = tomllib.loads(Path(__file__).with_name("published.toml").read_text(encoding="utf-8"))
PLANTED_SOURCE, WINNERS_SOURCE, MATCHED_SOURCE, K_PICKS_SOURCE, YEAST_SOURCE, YEAST_SHOWN_SOURCE = (
    str(_TABLES[name].pop("source"))
    for name in ("planted", "winners", "matched", "k_picks", "yeast_picks", "yeast_shown")
)
YEAST_KS: tuple[int, ...] = tuple(_TABLES["k_picks"].pop("ks"))
PLANTED: dict[str, dict[str, float]] = _TABLES["planted"]
WINNERS: dict[str, Winner] = {key: Winner(*value) for key, value in _TABLES["winners"].items()}
MATCHED: dict[tuple[str, str, str], float] = _words(_TABLES["matched"])
K_PICKS: dict[tuple[str, str], dict[str, int]] = _words(_TABLES["k_picks"])
YEAST_PICKS: dict[tuple[str, str], Pick] = {key: Pick(*v) for key, v in _words(_TABLES["yeast_picks"]).items()}
YEAST_COVERAGE: dict[tuple[str, str, int], float] = {
    (dataset, algorithm, int(k)): value for (dataset, algorithm, k), value in _words(_TABLES["yeast_coverage"]).items()
}
YEAST_SHOWN: dict[str, str] = _TABLES["yeast_shown"]
