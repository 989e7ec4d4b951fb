"""What a sweep is made of: cells, the tasks that perform them, and what became of each cell."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from bivaluate.matrix import Matrix

OK, DEGENERATE, FAILED, TIMED_OUT = "ok", "degenerate", "failed", "timed out"
NULLS = ("permute", "phase")  # kinds of surrogates
EXTRA_SEED = 100_000  # how far apart extra seeds of `find` are: they are nobody's own
NOT_PREDICTED = "Held-out values could not be predicted: "
DATA = ""  # the variant of a cell that is performed on the data themselves


class Cell(NamedTuple):
    """One fit of a sweep: an algorithm asked for K biclusters of a data set, with a seed.

    Parameters
    ----------
    dataset, algorithm, k, seed : str, str, int, int
        Names as in the tables of the run, the number of biclusters asked for, and the seed.

    See Also
    --------
    Run

    Examples
    --------
    >>> Cell("scenario:S1", "cca", k=3, seed=0).k
    3
    """

    dataset: str
    algorithm: str
    k: int
    seed: int

    def __str__(self) -> str:
        return f"data set {self.dataset}, {self.algorithm}, K = {self.k}, seed {self.seed}"


class Slot(NamedTuple):
    """A place in the journal: a cell, and the surrogate (if any) it is performed on."""

    cell: Cell
    variant: str = DATA  # DATA, or the kind of surrogate: "permute", "phase"
    copy: int = 0


@dataclass(frozen=True)
class Task:
    """Cells that share one fit: several K of a nested algorithm, or a single cell of any other."""

    dataset: str
    matrix_seed: int | None
    seed: int
    algorithm: str
    ks: tuple[int, ...]
    random_state: int
    variant: str = DATA
    copy: int = 0
    metrics: str | tuple[str, ...] = "default"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    score: Mapping[str, Any] = field(default_factory=dict)
    held_out: int = 0
    stability: int = 0
    view: str = ""  # in what form the algorithm gets the data
    given: bytes | None = None  # a packed solution to refine, in place of a fit
    key: str = ""  # what makes the estimator: a key of the registry, a class, a command
    n_jobs: int | None = 1  # threads of one fit: a sweep is parallel itself

    @property
    def matrix_key(self) -> tuple[str, int | None]:
        """Which matrix of the run the task works on."""
        return self.dataset, self.matrix_seed

    def slot(self, k: int) -> Slot:
        """Return the place of one of the task's cells."""
        return Slot(Cell(self.dataset, self.algorithm, k, self.seed), self.variant, self.copy)


@dataclass
class Outcome:
    """How one cell ended."""

    k: int
    status: str
    reason: str = ""
    scores: dict[str, float] = field(default_factory=dict)
    biclusters: list[dict[str, Any]] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    solution: bytes | None = None
    mergers: bytes | None = None
    fit_seconds: float | None = None
    score_seconds: float | None = None


Finished = tuple[Task, list[Outcome]]
Work = Generator[Finished, None, None]  # tasks as they finish; what is left is abandoned when it is closed
MatrixOf = Callable[[Task], Matrix]
