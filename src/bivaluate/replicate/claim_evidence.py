"""Everything the claims are judged on, as plain tables that can be written and read back."""

import itertools
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bivaluate._errors import FileError, SearchWarning
from bivaluate._files import FilePath, write_whole
from bivaluate.algorithms import CoherentSubmatrices
from bivaluate.datasets.scenarios import SCENARIOS, VARIANTS, make_scenario
from bivaluate.evaluation import evaluate
from bivaluate.measures.external import compare
from bivaluate.measures.residue import mean_squared_residue
from bivaluate.measures.virtual_error import virtual_error
from bivaluate.replicate.profile import CONVENTIONS, MEASURES, PAPER_SEED, PROFILES, scored_under
from bivaluate.sweep import Run

NEAR = ["scenario", "algorithm", "seed", "ce"]
TABLES = ("planted", "checks", "matched", "biclusters", "truth", "yeast")


@dataclass(frozen=True)
class Evidence:
    """The tables behind the claims.

    Parameters
    ----------
    planted, checks : DataFrame
        Per seed, the scores of the planted solutions of each scenario, and single quantities by the name of the check.
    matched, biclusters, truth, yeast : DataFrame
        Scores at the planted K, with the paper's ``fixed`` seed and each matrix's ``own``; every bicluster with the
        planted block it shares most cells with; how near solutions are to the planted ones; scores of the K-sweeps.

    See Also
    --------
    judge_all

    Examples
    --------
    >>> evidence = Evidence.read("docs/replication")  # doctest: +SKIP
    """

    planted: pd.DataFrame
    checks: pd.DataFrame
    matched: pd.DataFrame
    biclusters: pd.DataFrame
    truth: pd.DataFrame
    yeast: pd.DataFrame

    def write(self, folder: FilePath) -> None:
        """Write every table as CSV.

        Parameters
        ----------
        folder : str or path-like

        Examples
        --------
        >>> Evidence.read("docs/replication").write("copy")  # doctest: +SKIP
        """
        for name in TABLES:
            write_csv(getattr(self, name), Path(folder) / f"{name}.csv")

    @classmethod
    def read(cls, folder: FilePath) -> "Evidence":
        """Read what :meth:`write` wrote.

        Parameters
        ----------
        folder : str or path-like

        Returns
        -------
        Evidence
            The tables.

        Examples
        --------
        >>> Evidence.read("docs/replication").planted["scenario"].nunique()  # doctest: +SKIP
        10
        """
        return cls(**{name: read_csv(Path(folder) / f"{name}.csv") for name in TABLES})


def gather_evidence(planted_seeds: int, scenarios: Run, own_seeds: Run, yeast: Run | None) -> Evidence:
    """Collect the evidence from what was run: the scenarios, the same with the algorithms' own seeds, and yeast."""
    planted, checks = planted_evidence(planted_seeds)
    matched = pd.concat([matched_evidence(scenarios, "fixed"), matched_evidence(own_seeds, "own")], ignore_index=True)
    biclusters, truth = found_evidence(scenarios)
    others = find_evidence(dict.fromkeys(truth["scenario"]), dict.fromkeys(truth["seed"]))
    truth = pd.concat([truth, others], ignore_index=True)
    columns = ["profile", "dataset", "algorithm", "k", "seed", "n_biclusters", *MEASURES]
    sweeps = pd.DataFrame(columns=columns) if yeast is None else _under_profiles(yeast, PROFILES)[columns]
    return Evidence(planted, checks, matched, biclusters, truth, sweeps)


def write_csv(frame: pd.DataFrame, path: Path) -> None:
    """Write a table, numbers with six digits, so that the file is there wholly or not at all."""
    write_whole(path, frame.to_csv(index=False, float_format="%.6g", lineterminator="\n"))


def read_csv(path: Path, **options: Any) -> pd.DataFrame:
    """Read a table; a file without any column is an empty one."""
    try:
        return pd.DataFrame(pd.read_csv(path, **options))
    except pd.errors.EmptyDataError:
        return pd.DataFrame()
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror or error}.") from error


def planted_evidence(n_seeds: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Score the planted solutions of all scenarios over seeds 0, 1, …, and compute the single checks."""
    scores: list[dict[str, Any]] = []
    checks: list[tuple[str, int, float]] = []
    for seed in range(n_seeds):
        for name in (*SCENARIOS, *VARIANTS):
            X, truth, _ = make_scenario(name, seed)
            metrics = [*MEASURES, "nve_numerator", "nve_denominator", "msr", "ve", "nve_k"]
            result = evaluate(X, truth, metrics=metrics, ve_axis="columns" if name in VARIANTS else "rows")
            own = {key.removeprefix("nve_"): result.scores[key] for key in metrics[-5:-3]}
            own["mean_area"] = sum(b.size for b in truth) / len(truth) / X.size
            scores.append({"scenario": name, "seed": seed, **{key: result.scores[key] for key in MEASURES}, **own})
            found = _CHECKS[name](X, truth, result) if name in _CHECKS else ()
            checks += [(check, seed, value) for check, value in found]
        checks.append(("scaling_identity_gap", seed, _scaling_identity_gap(seed)))
        checks.append(("noise_ratio", seed, _noise_ratio(seed)))
    return pd.DataFrame(scores), pd.DataFrame(checks, columns=["check", "seed", "value"])


def matched_evidence(run: Run, algorithm_seed: str) -> pd.DataFrame:
    """Return a scenario run's scores under every convention."""
    table = _under_profiles(run, CONVENTIONS).rename(columns={"dataset": "scenario"})
    table.insert(0, "algorithm_seed", algorithm_seed)
    return table[["algorithm_seed", "profile", "scenario", "algorithm", "seed", "n_biclusters", *MEASURES]]


def found_evidence(run: Run) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the biclusters of a scenario run with sizes and scores, and how near solutions are to the planted ones."""
    near, planted = [], {}
    status = run.results.set_index(["dataset", "algorithm", "k", "seed"])["status"].to_dict()
    for cell in run.cells:
        truth = run.truth(cell.dataset, cell.seed)
        if truth is None or status.get(tuple(cell)) not in ("ok", "degenerate"):
            continue
        found, scenario = run.solution(cell), cell.dataset.removeprefix("scenario:")
        near.append((scenario, cell.algorithm, cell.seed, _nearness(truth, found)))
        for name, b in enumerate(found, 1):
            shared = [np.isin(b.rows, t.rows).sum() * np.isin(b.cols, t.cols).sum() for t in truth]
            planted[scenario, cell.algorithm, cell.seed, f"B{name}"] = int(np.argmax(shared)) + 1 if any(shared) else 0
    table = run.biclusters
    table = table.assign(scenario=table["dataset"].str.removeprefix("scenario:"))
    keys = table[["scenario", "algorithm", "seed", "bicluster"]].itertuples(index=False, name=None)
    table = table.assign(planted=[planted.get(key, 0) for key in keys])
    columns = ["scenario", "algorithm", "seed", "bicluster", "n_rows", "n_cols", "msr", "ve", "nve_k", "planted"]
    return table[columns], pd.DataFrame(near, columns=NEAR)


def find_evidence(scenarios: Iterable[str], seeds: Iterable[int]) -> pd.DataFrame:
    """Return how near the biclusters of ``find``, which is not told K and not of the paper, are to the planted ones."""
    rows = []
    for scenario, seed in itertools.product(scenarios, seeds):
        X, truth, _ = make_scenario(scenario, seed)
        with warnings.catch_warnings(action="ignore", category=SearchWarning):
            found = CoherentSubmatrices(random_state=PAPER_SEED).fit(X).solution_
        rows.append((scenario, "find", seed, _nearness(truth, found)))
    return pd.DataFrame(rows, columns=NEAR)


def _nearness(truth: Any, found: Any) -> float:
    return float(compare(truth, found, metrics="ce")["ce"] or 0.0) if len(found) else 0.0


def _under_profiles(run: Run, names: Iterable[str]) -> pd.DataFrame:
    """Return a run's scores under some profiles, data sets without their group."""
    table = pd.concat([scored_under(run, PROFILES[n]).assign(profile=n) for n in names], ignore_index=True)
    table["dataset"] = table["dataset"].str.partition(":")[2]
    return table


Checks = Iterable[tuple[str, float]]


def _s4_checks(X: Any, truth: Any, result: Any) -> Checks:
    clean = evaluate(X, truth.select([0, 1])).scores
    return [("s4_clean_nve", clean["nve"]), ("s4_clean_nve_cov", clean["nve_cov"])]


def _s6_checks(X: Any, truth: Any, result: Any) -> Checks:
    filtered = evaluate(X, truth, min_cols=3, small="drop").scores
    ve = [record["ve"] for record in result.records]
    sizes = [("s6_stripe_ve", max(ve[2:])), ("s6_block_ve", min(ve[:2]))]
    return [*sizes, ("s6_filtered_avg_ve", filtered["avg_ve"]), ("s6_filtered_nve", filtered["nve"])]


def _s8_checks(X: Any, truth: Any, result: Any) -> Checks:
    for key in ("msr", "ve", "nve_k"):
        values = [record[key] for record in result.records]
        yield f"s8_{key}_rungs", float(sum(low < high for low, high in itertools.pairwise(values)))


_CHECKS: dict[str, Callable[[Any, Any, Any], Checks]] = {"S4": _s4_checks, "S6": _s6_checks, "S8": _s8_checks}


def _scaling_identity_gap(seed: int) -> float:
    """Return how far MSR of a noise-free block s_i * p_j is from Var(s) Var(p), relatively."""
    rng = np.random.default_rng(seed)
    s, p = rng.uniform(0.3, 2.4, 30), rng.uniform(0, 6, 15)
    expected = float(s.var() * p.var())
    return abs(float(mean_squared_residue(np.multiply.outer(s, p))) - expected) / expected


def _noise_ratio(seed: int) -> float:
    """Return the larger of the ratios of mean MSR and mean VE of 50 small blocks of noise to 50 large ones."""
    rng = np.random.default_rng([seed, 11])
    small, large = (rng.standard_normal((50, *shape)) for shape in ((4, 3), (30, 15)))
    return max(sum(map(f, small)) / sum(map(f, large)) for f in (mean_squared_residue, virtual_error))
