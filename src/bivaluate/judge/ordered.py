"""Judge biclusters of ordered columns: the evidence cut refitted on phase-randomised surrogates, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bivaluate.chance.assumptions import centre_columns
from bivaluate.chance.scores import adjusted_error
from bivaluate.chance.search import refit_cut
from bivaluate.matrix import Matrix
from bivaluate.solution import Biclustering


def ordered_column_findings(
    X: Any, solution: Biclustering, names: Sequence[str], *, null_runs: int = 5, random_state: int | None = 0
) -> list[str]:
    """Say which biclusters are more coherent than anything a search finds in surrogates as smooth as the data.

    aVE is taken on column-centred data, as advised; see :func:`bivaluate.chance.search.refit_cut`.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = np.cumsum(rng.normal(size=(40, 20)), axis=1)
    >>> S = Biclustering([(range(8), range(10))], X.shape)
    >>> print(ordered_column_findings(X, S, ["B1"], null_runs=1)[0][:42])
    Columns are ordered: in 1 phase-randomised
    """
    values = Matrix.of(X).values
    cut = refit_cut(values, [b.shape for b in solution], runs=null_runs, random_state=random_state)
    centred = centre_columns(values)
    passed: list[str] = []
    failed: list[str] = []
    for name, bicluster in zip(names, solution, strict=True):
        error = adjusted_error(bicluster.of(centred), (values.shape[0], values.shape[1]))
        (passed if error < cut else failed).append(f"{name} ({error:.2f})")
    return [
        f"Columns are ordered: in {null_runs} phase-randomised surrogate(s) a search reaches aVE {cut:.2f}, so evidence starts "
        f"below that. Below (columns centred): {', '.join(passed) or 'none'}; not below: {', '.join(failed) or 'none'}."
    ]
