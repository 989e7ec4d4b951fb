"""The numbers the NVE paper prints, read from published.toml, and our scores of the planted biclusters beside them.

Measures, algorithms and data sets carry the keys used everywhere else in bivaluate; each table names its place.
"""

import math
import statistics
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from bivaluate._check import check_int
from bivaluate.datasets.scenarios import get_scenario, make_scenario

PAPER = (
    "Tiwari P., Navin Kumar I., Bezdek J. C., Rathore P., "
    "NVE: A Separability and Coverage-Aware Internal Validation Metric for Biclustering, arXiv 2608.29045"
)


class Winner(NamedTuple):
    """The algorithm that most often has the best score under a measure, and on how many of ten scenarios."""

    algorithm: str
    wins: int


class Pick(NamedTuple):
    """The algorithm and number of biclusters a measure chooses on a data set."""

    algorithm: str
    k: int


def _words(table: dict[str, Any]) -> dict[Any, Any]:
    return {tuple(key.split()): value for key, value in table.items()}


_TABLES = tomllib.loads(Path(__file__).with_name("published.toml").read_text(encoding="utf-8"))
SOURCES: dict[str, str] = {name: table.pop("source") for name, table in _TABLES.items() if "source" in table}
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


# S9b is three tiny blocks: its mean settles only over many seeds.
PLANTED_SEEDS = {"S9b": 200}
DEFAULT_SEEDS = 20
#: The measures of the paper's table of planted biclusters.
PLANTED_MEASURES = tuple(PLANTED["S1"])


@dataclass(frozen=True)
class PlantedCell:
    """One measure of one scenario's planted solution: mean and standard deviation over seeds, and the paper's value."""

    scenario: str
    measure: str
    n_seeds: int
    mean: float
    sd: float
    paper: float

    @property
    def deviation(self) -> float:
        """Relative deviation of the mean from the paper's value (NaN where the paper prints none)."""
        return self.mean / self.paper - 1


def planted_scores(name: str, seeds: Iterable[int]) -> list[dict[str, float]]:
    """Return the solution-level scores of a scenario's planted biclusters, one dict per seed."""
    from bivaluate.evaluation import evaluate

    return [dict(evaluate(*make_scenario(name, seed)[:2]).scores) for seed in seeds]


def planted_table(scenarios: Sequence[str] = tuple(PLANTED), n_seeds: int | None = None) -> list[PlantedCell]:
    """Score the planted solutions over seeds 0, 1, … and set the means beside the paper's table.

    Parameters
    ----------
    scenarios : sequence of str, optional
        Scenarios; by default the five of the paper's table.
    n_seeds : int, optional
        Number of seeds; by default 20, and 200 of S9b, whose three tiny blocks scatter most.

    Returns
    -------
    list of PlantedCell
        One entry per scenario and measure.

    Raises
    ------
    ParameterError
        If there is no such scenario, or no seed.

    See Also
    --------
    make_scenario

    Examples
    --------
    >>> cell = planted_table(["S1"], n_seeds=3)[-1]
    >>> cell.measure, round(cell.mean, 4), cell.paper
    ('coverage', 0.1258, 0.1258)
    """
    if n_seeds is not None:
        check_int("n_seeds", n_seeds, minimum=1)
    cells = []
    for name in scenarios:
        scenario = get_scenario(name).id
        n = PLANTED_SEEDS.get(scenario, DEFAULT_SEEDS) if n_seeds is None else n_seeds
        scores = planted_scores(scenario, range(n))
        for measure in PLANTED_MEASURES:
            values = [score[measure] for score in scores]
            sd = statistics.stdev(values) if n > 1 else math.nan
            paper = PLANTED.get(scenario, {}).get(measure, math.nan)
            cells.append(PlantedCell(scenario, measure, n, statistics.fmean(values), sd, paper))
    return cells
