"""The claims of docs/elsewhere.md, measured with the rules as they stand: python -m benchmarks.elsewhere [PART …].

Parts: calibration, repeats, planted, halves, recur, traits. Every part appends one line of JSON to docs/elsewhere.json.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bivaluate import Biclustering, Matrix, recur, traits
from bivaluate.algorithms.registry import make_estimator
from bivaluate.chance.surrogates import surrogate
from bivaluate.datasets import load, load_labelled, make_programs
from bivaluate.elsewhere._labels import match_rows
from bivaluate.elsewhere.confirm import _Judge, _p_and_q

OUT = Path(__file__).parents[1] / "docs" / "elsewhere.json"
ALGORITHMS = ("cca", "fabia", "isa", "las", "plaid", "qubic", "spectral_co", "ssvd")
K = 5
REPEATS = (("12_heat_shock_1", "13_heat_shock_2"), ("15_YPD_1", "16_YPD_2"), ("08_25mM_DTT", "11_complete_DTT"))
PAIRS = (
    *REPEATS,
    ("01_alpha_factor", "02_cdc_15"),
    ("03_cdc_28", "04_elutriation"),
    ("14_nitrogen_depletion", "15_YPD_1"),
)
CANCER = (
    *("alizadeh-2000-v2", "armstrong-2002-v1", "bhattacharjee-2001", "chowdary-2006", "golub-1999-v1", "gordon-2002"),
    *("pomeroy-2002-v2", "nutt-2003-v1", "singh-2002", "khan-2001", "bittner-2000", "su-2001"),
)


def both_ways(pairs: tuple[tuple[str, str], ...]) -> list[tuple[Matrix, Matrix]]:
    return [(load(f"yeast:{a}"), load(f"yeast:{b}")) for x, y in pairs for a, b in ((x, y), (y, x))]


def found(algorithm: str, X: Any, k: int = K, **more: Any) -> Biclustering:
    return make_estimator(algorithm, k, 0, **more).fit(X).solution_


def shares(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Over all biclusters and by algorithm: how many, P(p <= .05), P(p <= .2), P(q <= .05)."""
    table = pd.DataFrame(rows).dropna(subset=["p"])

    def of(part: pd.DataFrame) -> list[float]:
        return [len(part), *(round(float((part[c] <= v).mean()), 3) for c, v in (("p", 0.05), ("p", 0.2), ("q", 0.05)))]

    return {"all": of(table)} | {str(name): of(part) for name, part in table.groupby("algorithm")}


def judged(own: Biclustering, A: Matrix, B: Matrix, copies: list[Biclustering], seed: int = 0) -> Any:
    """What confirm says of biclusters, the search on surrogates of A given: records, and scores of the solution."""
    judge = _Judge(A, B, *match_rows(A, B)[:2], 200, seed, [])
    return judge.ask([b.rows for b in own], [[b.rows for b in each] for each in copies], 0.05)


def on_surrogates(algorithm: str, A: Matrix, kind: str, k: int, n: int = 10, seed: int = 1) -> list[Biclustering]:
    return [found(algorithm, surrogate(A.values, kind, np.random.default_rng([seed, i])), k) for i in range(n)]


def by_chance(algorithm: str, A: Matrix, B: Matrix, kind: str, copies: int, k: int = K) -> list[dict[str, Any]]:
    """Biclusters of surrogates of A judged in B: each surrogate by the search on the ten after it.

    A surrogate of a surrogate is distributed as one of the matrix, and has the same means and standard deviations of
    rows, so that one set of fits serves all.
    """
    judge = _Judge(A, B, *match_rows(A, B)[:2], 200, 0, [])
    sets = [[judge._shared(b.rows) for b in s] for s in on_surrogates(algorithm, A, kind, k, copies, 99)]
    scored = [[judge._score(rows) for rows in each if judge._can(rows)] for each in sets]
    rows = []
    for i, own in enumerate(scored):
        null = np.array([each["z"] for j in range(1, 11) for each in scored[(i + j) % copies]])
        p, q = _p_and_q(own, null)
        rows += [{"algorithm": algorithm, "p": a, "q": b} for a, b in zip(p, q, strict=True)]
    return rows


def calibration(copies: int = 30) -> dict[str, Any]:
    """A is a surrogate of a real series: whatever is found there is found by chance, B is real."""
    pairs = both_ways(PAIRS)
    return shares([row for a in ALGORITHMS for A, B in pairs for row in by_chance(a, A, B, "phase", copies)])


def repeats() -> dict[str, Any]:
    """True repeats of yeast series: heat shock, YPD, DTT, both directions; and with the mean of each row taken off."""
    report = {}
    for name in ("as they are", "rows centred"):
        rows, controls = [], []
        for A, B in both_ways(REPEATS):
            if name != "as they are":
                A = Matrix(A.values - np.nanmean(A.values, axis=1, keepdims=True), A.row_labels)
            for algorithm in ALGORITHMS:
                records, scores = judged(found(algorithm, A), A, B, on_surrogates(algorithm, A, "phase", K))
                rows += [{"algorithm": algorithm, **r} for r in records]
                controls.append((scores["share_controls"], scores["n_asked"]))
        known = np.array([c for c in controls if not np.isnan(c[0])])
        report[name] = shares(rows) | {"controls": round(float(np.average(known[:, 0], weights=known[:, 1])), 3)}
    return report


def planted(seeds: int = 40) -> dict[str, Any]:
    """Six modules in A, three of them in B; rows are active to different degrees, alike in A and B.

    A bicluster is that of a module by Jaccard at least 0.5; one of a module that B does not have is mixed when it also
    has at least three rows of modules that B has.
    """
    rows: dict[str, list[dict[str, Any]]] = {"kept": [], "not kept": [], "not kept, mixed": []}
    for seed in range(seeds):
        rng = np.random.default_rng([5, seed])
        order, activity = rng.permutation(600), rng.lognormal(0, 0.5, size=(600, 1))
        A, B = activity * rng.normal(size=(2, 600, 20))
        modules = [order[25 * i : 25 * i + 25] for i in range(6)]
        for i, module in enumerate(modules):
            for X in (A, B) if i < 3 else (A,):
                X[module] += 2 * activity[module] * rng.normal(size=20)
        first, second = Matrix(A), Matrix(B)
        for algorithm in ALGORITHMS:
            solution = found(algorithm, A, 8)
            if not len(solution):
                continue
            records, _ = judged(solution, first, second, on_surrogates(algorithm, first, "permute", 8), seed)
            for b, record in zip(solution, records, strict=True):
                shared = [len(np.intersect1d(b.rows, m)) / len(np.union1d(b.rows, m)) for m in modules]
                if max(shared) >= 0.5:
                    mixed = len(np.intersect1d(b.rows, order[:75])) >= 3
                    to = "kept" if int(np.argmax(shared)) < 3 else "not kept, mixed" if mixed else "not kept"
                    rows[to].append({"algorithm": algorithm, **record})
    return {name: shares(each) for name, each in rows.items() if each}


def halves(copies: int = 20) -> dict[str, Any]:
    """Biclusters found in every other column of PBMC and six cancer sets, judged in the others; and of surrogates."""
    rows, noise = [], []
    for name in ("pbmc68k", *(f"cancer:{c}" for c in CANCER[:6])):
        values = load(name).values
        values = values[np.argsort(-values.var(axis=1))[:500]]
        A, B = Matrix(values[:, ::2].copy()), Matrix(values[:, 1::2].copy())
        for algorithm in ALGORITHMS:
            records, _ = judged(found(algorithm, A, 8), A, B, on_surrogates(algorithm, A, "permute", 8))
            rows += [{"algorithm": algorithm, **r} for r in records]
            noise += by_chance(algorithm, A, B, "permute", copies, 8)
    return {"real": shares(rows), "surrogates": shares(noise)}


def programs(algorithm: str, seed: int, noise: bool, strength: float, k: int) -> bool:
    """Whether the groups are exactly the four planted ones; in noise, whether there is any group."""
    n = int(np.random.default_rng([7, seed]).integers(6, 13))
    samples, truth = make_programs(
        n, 0 if noise else 4, n_private=0 if noise else 2, strength=strength, random_state=seed
    )
    fitted = {}
    for name, X in samples.items():
        depth = X.values.sum(axis=0)
        logs = np.log1p(X.values * np.median(depth) / depth)
        rows = (logs - logs.mean(axis=1, keepdims=True)) / np.maximum(logs.std(axis=1, keepdims=True), 1e-9)
        found_ = found("nmf", X, k, rule="spectra:50") if algorithm == "nmf" else found(algorithm, rows, k)
        fitted[name] = (found_, X)
    result = recur(fitted)
    if noise:
        return bool(result.records)
    place = {label: i for i, label in enumerate(result.row_labels)}
    groups = [{place[label] for label, _ in rows} for rows in result.rows]
    best = [max((len(g & set(t)) / len(g | set(t)) for g in groups), default=0.0) for t, _ in truth]
    return len(groups) == 4 and min(best) >= 0.5


def recurrence(seeds: int = 20) -> dict[str, Any]:
    report: dict[str, Any] = {}
    for algorithm in ("nmf", "las"):
        for strength, k in ((4.0, 8), (2.0, 8), (1.0, 8), (4.0, 5)):
            right = [programs(algorithm, 1000 + seed, False, strength, k) for seed in range(seeds)]
            report[f"{algorithm}, strength {strength:g}, K = {k}"] = [sum(right), len(right)]
        noise = [programs(algorithm, 2000 + seed, True, 4.0, 8) for seed in range(seeds)]
        report[f"{algorithm}, noise"] = [sum(noise), len(noise)]
    return report


def annotations(permuted: int = 10) -> dict[str, Any]:
    """Classes of the twelve cancer sets, as they are and permuted."""
    rows, noise = [], []
    for name in CANCER:
        X = load_labelled(f"cancer:{name}").matrix
        classes = np.array(X.col_labels)
        for algorithm in ("las", "plaid", "isa"):
            solution = found(algorithm, X, 8)
            if not len(solution):
                continue
            rng = np.random.default_rng(0)
            tables = [(classes, rows), *((rng.permutation(classes), noise) for _ in range(permuted))]
            for labels, to in tables:
                table = traits(solution, X, pd.DataFrame({"class": labels}))
                to += [{"algorithm": algorithm, **row} for row in table.to_dict("records")]
    return {"real": shares(rows), "permuted": shares(noise)}


PARTS: dict[str, Callable[[], dict[str, Any]]] = {
    "repeats": repeats,
    "traits": annotations,
    "recur": recurrence,
    "planted": planted,
    "halves": halves,
    "calibration": calibration,
}


def main(names: list[str]) -> None:
    warnings.simplefilter("ignore")
    kept = json.loads(OUT.read_text()) if OUT.exists() else {}
    for name in names or PARTS:
        start = time.process_time()
        kept[name] = PARTS[name]() | {"cpu_seconds": round(time.process_time() - start)}
        OUT.write_text(json.dumps(kept, indent=1) + "\n")
        print(name, json.dumps(kept[name]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
