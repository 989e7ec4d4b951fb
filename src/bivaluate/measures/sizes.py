"""How many biclusters there are and how large: the context every score needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bivaluate.measures.measure import MEMBERSHIPS_ALONE, Metric
from bivaluate.measures.workspace import Workspace
from bivaluate.solution import Biclustering


def bicluster_shapes(solution: Biclustering) -> NDArray[np.int64]:
    """Rows and columns of each bicluster, (K, 2).

    >>> bicluster_shapes(Biclustering([([0, 1, 2], [0, 1]), ([3], [2, 3])], (5, 6))).tolist()
    [[3, 2], [1, 2]]
    """
    return np.array([b.shape for b in solution], dtype=np.int64).reshape(len(solution), 2)


def _metric(key: str, name: str, summary: str, compute: Callable[[Workspace], float]) -> Metric:
    return Metric(
        key=key,
        symbol=key,
        name=name,
        level="solution",
        direction="none",
        range=(0.0, float("inf")),
        summary=summary,
        function=bicluster_shapes,
        compute=compute,
        invariances=MEMBERSHIPS_ALONE,
        default=True,
    )


def _reduced(side: str, reduce: Callable[[Any], Any]) -> Callable[[Workspace], float]:
    def compute(workspace: Workspace) -> float:
        sizes = workspace.r if side == "rows" else workspace.c
        if not len(sizes):
            return float("nan")
        value = reduce(sizes)
        return int(value) if isinstance(value, np.integer) else float(value)

    return compute


METRICS = (
    _metric("n_biclusters", "number of biclusters", "How many biclusters were scored.", lambda w: len(w.solution)),
    _metric(
        "n_undefined",
        "undefined biclusters",
        "How many biclusters have no defined coherence (one row or one column) and left the scores.",
        lambda w: int((~w.defined).sum()),
    ),
    *(
        _metric(
            f"{side}_{word}",
            f"{name} number of {'rows' if side == 'rows' else 'columns'}",
            f"{name.capitalize()} number of {'rows' if side == 'rows' else 'columns'} of the biclusters.",
            _reduced(side, reduce),
        )
        for side in ("rows", "cols")
        for word, name, reduce in (("mean", "mean", np.mean), ("min", "smallest", np.min), ("max", "largest", np.max))
    ),
)
