"""The claims of docs/elsewhere.md, measured with the rules as they stand: python -m benchmarks.elsewhere [PART …].

Parts: calibration, small, repeats, planted, halves, recur, traits. Results stand in docs/elsewhere.json; finished pieces are
kept, and a stopped study goes on.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bivaluate import Biclustering, Matrix, recur, traits
from bivaluate.algorithms.registry import make_estimator
from bivaluate.chance.surrogates import surrogate
from bivaluate.datasets import load, load_labelled, make_programs
from bivaluate.elsewhere.confirm import _RowTest, p_and_q
from bivaluate.elsewhere.fits import match_rows

Rows = list[dict[str, Any]]
Get = Callable[[str, Callable[[], Rows]], Rows]
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
    test = _RowTest(A, B, match_rows(A, B)[0], 200, seed, [])
    return test.ask([b.rows for b in own], [[b.rows for b in each] for each in copies], 0.05)


def on_surrogates(algorithm: str, A: Matrix, kind: str, k: int, n: int = 10, seed: int = 1) -> list[Biclustering]:
    return [found(algorithm, surrogate(A.values, kind, np.random.default_rng([seed, i])), k) for i in range(n)]


def by_chance(algorithm: str, A: Matrix, B: Matrix, kind: str, k: int = K) -> Rows:
    """Biclusters of surrogates of A judged in B: each surrogate by the search on the ten after it.

    A surrogate of a surrogate is distributed as one of the matrix, and has the same means and standard deviations of
    rows, so that one set of fits serves all. Plaid finds little in surrogates and is given more of them.
    """
    copies = 80 if algorithm == "plaid" else 12
    test = _RowTest(A, B, match_rows(A, B)[0], 200, 0, [])
    scored = [
        [record for record in (test.score(b.rows) for b in each) if not record["reason"]]
        for each in on_surrogates(algorithm, A, kind, k, copies, 99)
    ]
    rows: Rows = []
    for i, own in enumerate(scored):
        p, q = p_and_q(own, [record for j in range(1, 11) for record in scored[(i + j) % copies]])
        rows += [{"algorithm": algorithm, "p": float(a), "q": float(b)} for a, b in zip(p, q, strict=True)]
    return rows


def calibration(get: Get) -> dict[str, Any]:
    """A is a surrogate of a real series: whatever is found there is found by chance, B is real."""
    rows: Rows = []
    for A, B in both_ways(PAIRS):
        for algorithm in ALGORITHMS:
            rows += get(f"calibration {A.name} {algorithm}", partial(by_chance, algorithm, A, B, "phase"))
    return shares(rows)


def some_rows(A: Matrix, B: Matrix, n: int = 150) -> tuple[Matrix, Matrix]:
    """As many rows that both have, drawn at random."""
    row_of = match_rows(A, B)[0]
    rows = np.sort(np.random.default_rng(n).permutation(np.flatnonzero(row_of >= 0))[:n])
    labels = tuple(np.array(A.row_labels)[rows])
    return Matrix(A.values[rows], labels, name=A.name), Matrix(B.values[row_of[rows]], labels, name=B.name)


def small(get: Get) -> dict[str, Any]:
    """The same with 150 rows; and how often a planted block of 20 rows is confirmed in 150, 300 and 600."""
    rows: Rows = []
    for A, B in both_ways(PAIRS):
        for algorithm in ALGORITHMS:
            part = partial(by_chance, algorithm, *some_rows(A, B), "phase")
            rows += get(f"small {A.name} {algorithm}", part)
    blocks = {}
    for n in (150, 300, 600):
        seeds = [(algorithm, seed) for algorithm in ("las", "plaid", "spectral_co") for seed in range(12)]
        each = [
            get(f"block {n} {algorithm} {seed}", partial(block_of, algorithm, seed, n)) for algorithm, seed in seeds
        ]
        blocks[str(n)] = shares([row for some in each for row in some])
    return {"surrogates": shares(rows), "planted": blocks}


def block_of(algorithm: str, seed: int, n: int) -> Rows:
    """The bicluster nearest to a block of 20 rows that move together in A and in B, or are higher in 8 columns."""
    rng = np.random.default_rng([11, seed, n])
    A, B = rng.normal(size=(2, n, 20))
    for X in (A, B):
        X[:20] += 2 * rng.normal(size=20) if seed % 2 else np.where(np.arange(20) < 8, 2.0, 0.0)
    solution = found(algorithm, A, 3)
    if not len(solution):
        return [{"algorithm": algorithm, "p": 1.0, "q": 1.0}]
    records, _ = judged(solution, Matrix(A), Matrix(B), on_surrogates(algorithm, Matrix(A), "permute", 3))
    shared = [(b.rows < 20).sum() / (20 + (b.rows >= 20).sum()) for b in solution]
    record = records[int(np.argmax(shared))]
    return [{"algorithm": algorithm, "p": record["p"], "q": q_of(record)}]


def q_of(record: dict[str, Any]) -> float:
    """q, or 1 where rows outside move together as strongly: such a bicluster is not confirmed."""
    return 1.0 if record["q"] <= 0.05 and record["verdict"] != "confirmed" else float(record["q"])


def real(algorithm: str, A: Matrix, B: Matrix, kind: str, k: int = K) -> Rows:
    records, scores = judged(found(algorithm, A, k), A, B, on_surrogates(algorithm, A, kind, k))
    known = {"algorithm": algorithm, "controls": scores["share_controls"]}
    return [known | {"p": record["p"], "q": q_of(record)} for record in records]


def repeats(get: Get) -> dict[str, Any]:
    """True repeats of yeast series: heat shock, YPD, DTT, both directions; and with the mean of each row taken off."""
    report = {}
    for name in ("as they are", "rows centred"):
        rows: Rows = []
        for A, B in both_ways(REPEATS):
            X = Matrix(A.values - np.nanmean(A.values, axis=1, keepdims=True), A.row_labels, name=A.name)
            for algorithm in ALGORITHMS:
                data = A if name == "as they are" else X
                rows += get(f"repeats {name} {A.name} {algorithm}", partial(real, algorithm, data, B, "phase"))
        report[name] = shares(rows) | {"controls": round(float(pd.DataFrame(rows)["controls"].mean()), 3)}
    return report


def modules_of(algorithm: str, seed: int) -> Rows:
    """Six modules in A, three of them in B; rows are active to different degrees, alike in A and B.

    A bicluster is that of a module by Jaccard at least 0.5; one of a module that B does not have is mixed when it also
    has at least three rows of modules that B has.
    """
    rng = np.random.default_rng([5, seed])
    order, activity = rng.permutation(600), rng.lognormal(0, 0.5, size=(600, 1))
    A, B = activity * rng.normal(size=(2, 600, 20))
    modules = [order[25 * i : 25 * i + 25] for i in range(6)]
    for i, module in enumerate(modules):
        for X in (A, B) if i < 3 else (A,):
            X[module] += 2 * activity[module] * rng.normal(size=20)
    first, solution = Matrix(A), found(algorithm, A, 8)
    if not len(solution):
        return []
    records, _ = judged(solution, first, Matrix(B), on_surrogates(algorithm, first, "permute", 8), seed)
    rows: Rows = []
    for b, record in zip(solution, records, strict=True):
        shared = [len(np.intersect1d(b.rows, m)) / len(np.union1d(b.rows, m)) for m in modules]
        if max(shared) >= 0.5:
            mixed = len(np.intersect1d(b.rows, order[:75])) >= 3
            kind = "kept" if int(np.argmax(shared)) < 3 else "not kept, mixed" if mixed else "not kept"
            rows.append({"algorithm": algorithm, "kind": kind, "p": record["p"], "q": q_of(record)})
    return rows


def planted(get: Get) -> dict[str, Any]:
    """Modules that B has and has not; SSVD, which had confirmed too many, is given more seeds."""
    rows: Rows = []
    for algorithm in ALGORITHMS:
        for seed in range(60 if algorithm == "ssvd" else 15):
            rows += get(f"planted {algorithm} {seed}", partial(modules_of, algorithm, seed))
    return {str(kind): shares(each.to_dict("records")) for kind, each in pd.DataFrame(rows).groupby("kind")}


def halves(get: Get) -> dict[str, Any]:
    """Biclusters found in every other column of PBMC and six cancer sets, judged in the others; and of surrogates."""
    rows: Rows = []
    noise: Rows = []
    for name in ("pbmc68k", *(f"cancer:{c}" for c in CANCER[:6])):
        values = load(name).values
        values = values[np.argsort(-values.var(axis=1))[:500]]
        A, B = Matrix(values[:, ::2].copy()), Matrix(values[:, 1::2].copy())
        for algorithm in ("cca", "isa", "las", "plaid", "qubic", "spectral_co", "ssvd"):
            rows += get(f"halves {name} {algorithm}", partial(real, algorithm, A, B, "permute", 8))
            noise += get(f"halves of noise {name} {algorithm}", partial(by_chance, algorithm, A, B, "permute", 8))
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


def recurrence(get: Get, seeds: int = 20) -> dict[str, Any]:
    report: dict[str, Any] = {}
    for algorithm in ("nmf", "las"):
        for strength, k in ((4.0, 8), (2.0, 8), (1.0, 8), (4.0, 5)):
            right = [programs(algorithm, 1000 + seed, False, strength, k) for seed in range(seeds)]
            report[f"{algorithm}, strength {strength:g}, K = {k}"] = [sum(right), len(right)]
        noise = [programs(algorithm, 2000 + seed, True, 4.0, 8) for seed in range(seeds)]
        report[f"{algorithm}, noise"] = [sum(noise), len(noise)]
    return report


def annotations(get: Get, permuted: int = 10) -> dict[str, Any]:
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


PARTS: dict[str, Callable[[Get], dict[str, Any]]] = {
    "repeats": repeats,
    "traits": annotations,
    "recur": recurrence,
    "planted": planted,
    "halves": halves,
    "calibration": calibration,
    "small": small,
}


class Store:
    """Finished pieces of work in a file of lines, so that a stopped study goes on; stops after some minutes."""

    def __init__(self, path: Path, minutes: float) -> None:
        self.path, self.end = path, time.monotonic() + 60 * minutes
        lines = path.read_text().splitlines() if path.exists() else []
        self.done: dict[str, Rows] = dict(json.loads(line) for line in lines)

    def get(self, key: str, make: Callable[[], Rows]) -> Rows:
        if key not in self.done:
            if time.monotonic() > self.end:
                raise TimeoutError(f"stopped before {key}; the same command goes on.")
            self.done[key] = make()
            with self.path.open("a") as file:
                file.write(json.dumps([key, self.done[key]]) + "\n")
        return self.done[key]


def main(names: list[str], pieces: Path, minutes: float) -> None:
    warnings.simplefilter("ignore")
    store = Store(pieces, minutes)
    kept = json.loads(OUT.read_text()) if OUT.exists() else {}
    for name in names or PARTS:
        kept[name] = PARTS[name](store.get)
        OUT.write_text(json.dumps(kept, indent=1) + "\n")
        print(name, json.dumps(kept[name]), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help=", ".join(PARTS))
    parser.add_argument("--pieces", type=Path, default=Path("elsewhere_pieces.jsonl"))
    parser.add_argument("--minutes", type=float, default=600)
    given = parser.parse_args()
    main(given.parts, given.pieces, given.minutes)
