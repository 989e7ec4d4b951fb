"""How well the coherent submatrix search works: python -m benchmarks.find [SECTION …] writes docs/coherent.md.

Every case goes to docs/find.json as soon as it is done, and the page is made from that file: a run that was stopped goes on
where it was. ``--afresh`` forgets the cases of the sections named (of all, if none is). ``page`` runs nothing. Cases of
other seeds, of an earlier evaluation, stay until they are run again, and the page says so.
Seeds start at 13000; development used seeds below 100, the designs named D, F and G, and other copies of the yeast matrices.
"""

from __future__ import annotations

import json
import resource
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import find_peers as peers
from benchmarks import find_real as real
from benchmarks.find_designs import FROZEN, Design, background, plant
from bivaluate._errors import SearchWarning
from bivaluate.algorithms import CoherentSubmatrices, LargeAverageSubmatrices
from bivaluate.datasets import SCENARIOS, list_datasets, load_yeast, make_scenario
from bivaluate.measures.external import compare as measure
from bivaluate.solution import Biclustering
from bivaluate.sweep import refine

Values = NDArray[np.float64]
Row = dict[str, Any]
Cases = dict[str, Callable[[], Row]]
DOCS = Path(__file__).resolve().parents[1] / "docs"
FIRST_SEED = 13000
SEEDS = 5
NOISE_SEEDS = 20
LIMIT_SEEDS = 5
POLISHED_SEEDS = 2
MEASURES = ("agri", "ce", "prelic_recovery", "prelic_relevance")
NOISES = (
    "normal", "t5", "t3", "cauchy", "ar", "exponential", "lognormal", "row scales", "column effects", "counts",
    "negative binomial", "factor", "cell depths",
)  # fmt: skip
# Rows, columns, planted blocks; the seconds that must and should be reached on two quiet cores.
SIZES = ((300, 40, 4, 1.0, 0.5), (3000, 170, 8, 30.0, 15.0), (20000, 500, 10, 600.0, 300.0))


def compare(truth: Biclustering, found: Biclustering | None) -> dict[str, float]:
    """Return the external measures of a solution, 0 for an empty one."""
    if found is None or not len(found):
        return dict.fromkeys(MEASURES, 0.0)
    scores = measure(truth, found)
    return {key: float(scores[key]) for key in MEASURES}


def search(X: Values, seed: int, **parameters: Any) -> tuple[CoherentSubmatrices, float]:
    """Fit the search, K not told; return it with its CPU seconds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SearchWarning)
        start = time.process_time()
        model = CoherentSubmatrices(missing="omit", random_state=seed, **parameters).fit(X)
    return model, time.process_time() - start


def scenario(name: str, seed: int) -> tuple[Values, Biclustering]:
    """Return a scenario and its planted biclusters."""
    X, truth, _ = make_scenario(name, random_state=seed)
    return np.asarray(X, dtype=np.float64), truth


def matrices() -> dict[str, Callable[[int], tuple[Values, Biclustering]]]:
    """Return, by name, what makes a matrix and its planted biclusters of a seed: ten scenarios and the frozen designs."""
    known = {name: lambda seed, name=name: scenario(name, seed) for name in SCENARIOS}
    return known | {name: lambda seed, design=design: plant(design, seed) for name, design in FROZEN.items()}


def with_row_means(X: Values) -> Values:
    """Return X with missing cells at the mean of their row: most other tools need whole matrices."""
    return np.asarray(np.where(np.isnan(X), np.nanmean(X, axis=1, keepdims=True), X))


def planted() -> Cases:
    """The ten scenarios and the frozen designs, K not told."""

    def case(make: Callable[[int], tuple[Values, Biclustering]]) -> Row:
        runs = []
        for seed in range(FIRST_SEED, FIRST_SEED + SEEDS):
            X, truth = make(seed)
            model, seconds = search(X, seed)
            found = model.solution_
            runs.append({**compare(truth, found), "k": len(found), "planted": len(truth), "seconds": seconds})
        return {"runs": runs}

    return {name: lambda make=make: case(make) for name, make in matrices().items()}


def compared() -> Cases:
    """Other tools on the ten scenarios and the frozen designs, one seed each, all told K; a case is a tool on a design."""

    def case(tool: str, make: Callable[[int], tuple[Values, Biclustering]]) -> Row:
        X, truth = make(FIRST_SEED)
        found, seconds, reason = peers.run(tool, with_row_means(X), len(truth))
        k = 0 if found is None else len(found)
        return {**compare(truth, found), "k": k, "planted": len(truth), "seconds": seconds, "reason": reason}

    return {
        f"{tool}: {name}": lambda tool=tool, make=make: case(tool, make)
        for tool in peers.PEERS
        for name, make in matrices().items()
    }


def noise() -> Cases:
    """Runs with a false bicluster in matrices without any."""

    def case(kind: str) -> Row:
        hits, refused = 0, 0
        for seed in range(FIRST_SEED, FIRST_SEED + NOISE_SEEDS):
            model, _ = search(background(kind, (300, 40), np.random.default_rng(seed)), seed)
            hits += len(model.solution_) > 0
            refused += any("Nothing is found" in note for note in model.notes_)
        return {"runs": NOISE_SEEDS, "false": hits, "said": refused}

    return {kind: lambda kind=kind: case(kind) for kind in NOISES}


def limit() -> Cases:
    """Share of single additive blocks found (CE above a half) by size and signal."""

    def case(r: int, c: int) -> Row:
        found = {}
        for noise_sd in (0.3, 0.5, 0.7, 0.9):
            design = Design((300, 40), ((r, c),), noise=noise_sd, pattern=1.0, shift=0.5)
            hits = 0
            for seed in range(FIRST_SEED, FIRST_SEED + LIMIT_SEEDS):
                X, truth = plant(design, seed)
                hits += compare(truth, search(X, seed)[0].solution_)["ce"] > 0.5
            found[str(noise_sd)] = hits / LIMIT_SEEDS
        return {"found": found, "matrices": LIMIT_SEEDS}

    return {f"{r} x {c}": lambda r=r, c=c: case(r, c) for r in (10, 20, 40, 80) for c in (6, 12, 18)}


def fewest() -> Cases:
    """The fewest rows of a bicluster: 3, 4 (the default) and 5 on the ten scenarios and on skewed noise."""

    def case(min_rows: int) -> Row:
        runs = []
        for name in SCENARIOS:
            X, truth = scenario(name, FIRST_SEED)
            found = search(X, 0, min_rows=min_rows)[0].solution_
            runs.append({**compare(truth, found), "k": len(found), "planted": len(truth)})
        false = 0
        for seed in range(FIRST_SEED, FIRST_SEED + NOISE_SEEDS):
            X = background("exponential", (300, 40), np.random.default_rng(seed))
            false += len(search(X, seed, min_rows=min_rows)[0].solution_) > 0
        return {"runs": runs, "false": false, "noise": NOISE_SEEDS}

    return {str(r): lambda r=r: case(r) for r in (3, 4, 5)}


def polished() -> Cases:
    """What LAS returns for K = 20, before and after `refine`."""

    def case(name: str) -> Row:
        runs = []
        for seed in range(FIRST_SEED, FIRST_SEED + POLISHED_SEEDS):
            X, truth = scenario(name, seed)
            las = LargeAverageSubmatrices(20, n_restarts=peers.LAS_RESTARTS, two_sided=True, random_state=0).fit(X)
            refined = refine(X, las.solution_).solution
            runs.append(
                {
                    "before": compare(truth, las.solution_),
                    "after": compare(truth, refined),
                    "k": len(refined),
                    "planted": len(truth),
                }
            )
        return {"runs": runs}

    return {name: lambda name=name: case(name) for name in SCENARIOS}


def copies() -> Cases:
    """Copies of the yeast matrices that hold no bicluster."""

    def case(name: str) -> Row:
        X = np.asarray(load_yeast(name), dtype=np.float64)
        rng = np.random.default_rng(FIRST_SEED)
        return {
            "random phases": len(search(real.random_phases(X, rng), 0)[0].solution_),
            "rotated": len(search(real.rotated(X, rng), 0)[0].solution_),
        }

    return {r.name.partition(":")[2]: lambda name=r.name: case(name) for r in list_datasets("yeast")}


def yeast() -> Cases:
    """The 17 yeast matrices: what is found, its evidence and its GO terms, beside other algorithms."""
    return {r.name.partition(":")[2]: lambda name=r.name: real.yeast(name, search) for r in list_datasets("yeast")}


def others() -> Cases:
    """A single-cell and a document matrix."""
    return {"pbmc68k": lambda: real.cells(search), "reuters_r8": lambda: real.documents(search)}


def speed() -> Cases:
    """Seconds by size, beside LAS with its default number of restarts in the same run."""

    def case(n: int, m: int, k: int) -> Row:
        X, truth = plant(Design((n, m), ((max(n // (5 * k), 15), max(m // 8, 8)),) * k), FIRST_SEED)
        if n < 1000:
            search(X, 0)  # compiles
        start = time.perf_counter()
        model, cpu = search(X, 0)
        wall = time.perf_counter() - start
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        row: Row = {"wall": wall, "cpu": cpu, "memory": memory, "k": len(model.solution_), "planted": k}
        row |= {"ce": compare(truth, model.solution_)["ce"], "matrix": X.nbytes / 1e6}
        start, begun = time.perf_counter(), time.process_time()
        LargeAverageSubmatrices(k, random_state=0).fit(X)
        return row | {"las": time.perf_counter() - start, "las_cpu": time.process_time() - begun}

    def slope() -> Row:
        seconds = {}
        for n in (1000, 2000, 4000, 8000):
            X, _ = plant(Design((n, 40), ((60, 8),) * 4), FIRST_SEED)
            seconds[str(n)] = search(X, 0)[1]
        return {"seconds": seconds}

    cases: Cases = {f"{n} x {m}": lambda n=n, m=m, k=k: case(n, m, k) for n, m, k, _, _ in SIZES[:2]}
    return cases | {"slope": slope} | {f"{n} x {m}": lambda n=n, m=m, k=k: case(n, m, k) for n, m, k, _, _ in SIZES[2:]}


SECTIONS: dict[str, Callable[[], Cases]] = {
    "planted": planted,
    "compared": compared,
    "noise": noise,
    "limit": limit,
    "fewest": fewest,
    "polished": polished,
    "copies": copies,
    "yeast": yeast,
    "others": others,
    "speed": speed,
}


def main() -> None:
    """Run what is missing of the sections and write the page."""
    from benchmarks.find_page import page

    words = sys.argv[1:]
    wanted = [word for word in words if word in SECTIONS] or ([] if "page" in words else list(SECTIONS))
    if "--afresh" in words:
        keep({name: {} for name in wanted}, afresh=True)
    for name in wanted:
        for case, run in SECTIONS[name]().items():
            if kept().get(name, {}).get(case, {}).get("first_seed") != FIRST_SEED:
                start = time.perf_counter()
                keep({name: {case: run() | {"first_seed": FIRST_SEED}}})
                print(f"{name}, {case}: {time.perf_counter() - start:.0f} s", flush=True)
    (DOCS / "coherent.md").write_text(page(kept()), encoding="utf-8")


def kept() -> dict[str, dict[str, Row]]:
    """Return the cases done so far, by section."""
    file = DOCS / "find.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def keep(new: dict[str, dict[str, Row]], afresh: bool = False) -> None:
    """Add cases to the file, which another run may have changed meanwhile; `afresh` forgets those that were there."""
    done = kept()
    for name, cases in new.items():
        done[name] = cases if afresh else done.get(name, {}) | cases
    (DOCS / "find.json").write_text(json.dumps(done, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
