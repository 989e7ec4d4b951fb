"""Hand-made content for report tests: no algorithm runs here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from bivaluate.judge.choice import winners
from bivaluate.judge.verdict import judged
from bivaluate.matrix import Matrix
from bivaluate.measures.workspace import Options
from bivaluate.registry import RECORDS
from bivaluate.report.groups import Group, ranked
from bivaluate.report.sentences import Findings
from bivaluate.solution import Biclustering


def group(
    algorithm: str = "LAS",
    k: int = 3,
    *,
    dataset: str = "X",
    members: tuple[int, ...] = (0,),
    statuses: dict[str, int] | None = None,
    reason: str = "",
    wins: int = 0,
    spread: dict[str, float] | None = None,
    reasons: dict[str, str] | None = None,
    **mean: float,
) -> Group:
    """Return a group with these means; who wins is marked by :func:`case`."""
    return Group(
        dataset,
        algorithm,
        k,
        members,
        mean,
        spread or {},
        {key: len(members) * (math.isfinite(value) and "ok" in (statuses or {"ok"})) for key, value in mean.items()},
        reasons or {},
        statuses or {"ok": len(members)},
        reason,
        members[0],
        wins,
    )


def case(groups: Sequence[Group], criterion: str = "nve_cov", **known: Any) -> Findings:
    """Return a case whose groups are marked by judge, as those of a page are."""
    rows = []
    for group in groups:
        for i in range(len(group.members)):
            seen = {key: value if i < group.counted[key] else math.nan for key, value in group.mean.items()}
            status = "ok" if "ok" in group.statuses else next(iter(group.statuses))
            rows.append(
                {"dataset": "X", "algorithm": group.algorithm, "k": group.k, "seed": i, "status": status} | seen
            )
    table = pd.DataFrame(rows)
    marks = winners(table, [key for key in table if key in RECORDS and RECORDS[key].ranks_solutions]).to_dict("records")
    marked = [
        replace(g, first=frozenset(m["measure"] for m in marks if (m["algorithm"], m["k"]) == (g.algorithm, g.k)))
        for g in groups
    ]
    return Findings(ranked(marked, criterion), criterion, **known)


def planted(
    n: int = 60, m: int = 24, blocks: int = 3, seed: int = 0, labels: bool = True
) -> tuple[Matrix, Biclustering]:
    """Return a noise matrix with additive blocks down the diagonal, and the blocks."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, m))
    pairs = []
    for rows, cols in zip(
        np.array_split(np.arange(n * 3 // 4), blocks), np.array_split(np.arange(m * 3 // 4), blocks), strict=True
    ):
        values[np.ix_(rows, cols)] = 3 * rng.normal(size=len(cols)) + rng.normal(size=(len(rows), 1))
        values[np.ix_(rows, cols)] += 0.2 * rng.normal(size=(len(rows), len(cols)))
        pairs.append((rows, cols))
    names = (tuple(f"gene{i}" for i in range(n)), tuple(f"t{j}" for j in range(m))) if labels else (None, None)
    return Matrix(values, names[0], names[1], "demo"), Biclustering(pairs, (n, m))


def named(solution: Biclustering, name: str) -> Biclustering:
    """Return the same solution under a name."""
    return Biclustering([(b.rows, b.cols) for b in solution], solution.shape, info={"name": name})


def empty_evaluation() -> Any:
    """Return the evaluation of a solution without biclusters, as `evaluate` documents it."""
    matrix, _ = planted()
    return SimpleNamespace(
        matrix=matrix,
        solution=Biclustering([], matrix.shape, info={"name": "nothing"}),
        scores={"n_biclusters": 0, "nve": math.nan, "coverage": 0.0},
        undefined=[],
        status={"nve": "the solution has no biclusters"},
        records=[],
        mergers={"ve": np.empty((0, 0)), "msr": np.empty((0, 0))},
        verdict=judged([]),
        options=Options(),
    )
