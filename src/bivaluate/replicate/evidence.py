"""Everything the claims are judged on, as plain tables that can be written and read back."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bivaluate._errors import FileError
from bivaluate.replicate.profile import MEASURES, PROFILES, scored_under

if TYPE_CHECKING:
    import pandas as pd

    from bivaluate.sweep.load import Run

TABLES = ("planted", "checks", "matched", "biclusters", "yeast")
DIGITS = "%.6g"


@dataclass(frozen=True)
class Evidence:
    """The tables behind the claims.

    Attributes
    ----------
    planted
        Scores of the planted solutions: ``scenario``, ``seed``, measures, ``numerator``, ``denominator``.
    checks
        Single quantities computed per seed: ``check``, ``seed``, ``value``.
    matched
        Algorithms on the scenarios at the planted K: ``algorithm_seed`` (``fixed`` at 42, or the ``own`` seed of
        the matrix), ``profile``, ``scenario``, ``algorithm``, ``seed``, ``n_biclusters``, measures.
    biclusters
        The biclusters of the fixed-seed runs, one row each.
    yeast
        The K-sweeps: ``profile``, ``dataset``, ``algorithm``, ``k``, ``seed``, ``n_biclusters``, measures. May be empty.
    """

    planted: pd.DataFrame
    checks: pd.DataFrame
    matched: pd.DataFrame
    biclusters: pd.DataFrame
    yeast: pd.DataFrame

    def write(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Write every table as CSV into a folder."""
        paths = []
        for name in TABLES:
            path = Path(folder) / f"{name}.csv"
            try:
                getattr(self, name).to_csv(path, index=False, float_format=DIGITS, lineterminator="\n")
            except OSError as error:
                raise FileError(f"cannot write {path}: {error.strerror or error}.") from error
            paths.append(path)
        return paths

    @classmethod
    def read(cls, folder: str | os.PathLike[str]) -> Evidence:
        """Read what :meth:`write` wrote."""
        import pandas as pd

        tables = {}
        for name in TABLES:
            path = Path(folder) / f"{name}.csv"
            try:
                tables[name] = pd.read_csv(path, keep_default_na=True)
            except OSError as error:
                raise FileError(f"cannot read {path}: {error.strerror or error}.") from error
        return cls(**tables)


def planted_evidence(n_seeds: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Score the planted solutions of all scenarios over seeds 0, 1, …, and compute the single checks."""
    import pandas as pd

    from bivaluate.datasets.scenarios import SCENARIOS, make_scenario
    from bivaluate.evaluation import evaluate

    scores: list[dict[str, Any]] = []
    checks: list[dict[str, Any]] = []
    for seed in range(n_seeds):
        for name in SCENARIOS:
            X, truth, _ = make_scenario(name, seed)
            result = evaluate(X, truth)
            scores.append(
                {"scenario": name, "seed": seed}
                | {key: result.scores[key] for key in MEASURES}
                | {
                    "numerator": result.scores["nve_numerator"],
                    "denominator": result.scores["nve_denominator"],
                    "mean_area": sum(b.size for b in truth) / len(truth) / X.size,
                }
            )
            for check, value in _CHECKS.get(name, _no_checks)(X, truth, result):
                checks.append({"check": check, "seed": seed, "value": value})
        checks.append({"check": "scaling_identity_gap", "seed": seed, "value": _scaling_identity_gap(seed)})
    return pd.DataFrame(scores), pd.DataFrame(checks)


def matched_evidence(run: Run, algorithm_seed: str) -> pd.DataFrame:
    """Return a scenario run's scores under every profile."""
    import pandas as pd

    parts = []
    for profile in PROFILES.values():
        table = scored_under(run, profile)
        table.insert(0, "scenario", table["dataset"].str.removeprefix("scenario:"))
        table.insert(0, "profile", profile.name)
        table.insert(0, "algorithm_seed", algorithm_seed)
        parts.append(table[["algorithm_seed", "profile", "scenario", "algorithm", "seed", "n_biclusters", *MEASURES]])
    return pd.concat(parts, ignore_index=True)


def bicluster_evidence(run: Run) -> pd.DataFrame:
    """Return the biclusters of a scenario run with their sizes and scores."""
    table = run.biclusters.copy()
    table.insert(0, "scenario", table["dataset"].str.removeprefix("scenario:"))
    return table[["scenario", "algorithm", "seed", "bicluster", "n_rows", "n_cols", "msr", "ve", "nve_k"]]


def yeast_evidence(run: Run | None) -> pd.DataFrame:
    """Return a yeast run's scores under every profile; an empty table without a run."""
    import pandas as pd

    columns = ["profile", "dataset", "algorithm", "k", "seed", "n_biclusters", *MEASURES]
    if run is None:
        return pd.DataFrame(columns=columns)
    parts = []
    for profile in PROFILES.values():
        table = scored_under(run, profile)
        table["dataset"] = table["dataset"].str.removeprefix("yeast:")
        table.insert(0, "profile", profile.name)
        parts.append(table[columns])
    return pd.concat(parts, ignore_index=True)


Checks = Iterable[tuple[str, float]]


def _no_checks(X: Any, truth: Any, result: Any) -> Checks:
    return ()


def _s4_checks(X: Any, truth: Any, result: Any) -> Checks:
    from bivaluate.evaluation import evaluate

    clean = evaluate(X, truth.select([0, 1])).scores
    return [("s4_clean_nve", clean["nve"]), ("s4_clean_nve_cov", clean["nve_cov"])]


def _s6_checks(X: Any, truth: Any, result: Any) -> Checks:
    from bivaluate.evaluation import evaluate

    filtered = evaluate(X, truth, min_cols=3, small="drop").scores
    ve = [record["ve"] for record in result.records]
    return [
        ("s6_stripe_ve", max(ve[2:])),
        ("s6_block_ve", min(ve[:2])),
        ("s6_filtered_avg_ve", filtered["avg_ve"]),
        ("s6_filtered_nve", filtered["nve"]),
    ]


def _s8_checks(X: Any, truth: Any, result: Any) -> Checks:
    for key in ("msr", "ve", "nve_k"):
        values = [record[key] for record in result.records]
        rungs = sum(low < high for low, high in itertools.pairwise(values))
        yield f"s8_{key}_rungs", float(rungs)


_CHECKS: dict[str, Callable[[Any, Any, Any], Checks]] = {"S4": _s4_checks, "S6": _s6_checks, "S8": _s8_checks}


def _scaling_identity_gap(seed: int) -> float:
    """Return how far MSR of a noise-free block s_i * p_j is from Var(s) Var(p), relatively."""
    import numpy as np

    from bivaluate.measures.residue import mean_squared_residue

    rng = np.random.default_rng(seed)
    s, p = rng.uniform(0.3, 2.4, 30), rng.uniform(0, 6, 15)
    expected = float(s.var() * p.var())
    found = float(mean_squared_residue(np.multiply.outer(s, p)))
    return abs(found - expected) / expected if expected else math.nan
