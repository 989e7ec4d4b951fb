"""How well the coherent submatrix search works: python -m benchmarks.find [SECTION …] writes docs/find.md.

Sections: planted, noise, limit, yeast, speed. Numbers of each go to docs/find.json; the page is made from that file, so that
one section can be run again alone. Seeds start at 5000; development used seeds below 100 and the designs named D….
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
from numpy.typing import NDArray

from benchmarks.find_designs import FROZEN, Design, background, plant
from bivaluate._errors import SearchWarning
from bivaluate.algorithms import ChengChurch, LargeAverageSubmatrices, SpectralCheckerboard
from bivaluate.algorithms.coherent import CoherentSubmatrices
from bivaluate.datasets import SCENARIOS, list_datasets, load_yeast, make_scenario
from bivaluate.measures.external import compare as measure
from bivaluate.solution import Biclustering

Values = NDArray[np.float64]
DOCS = Path(__file__).resolve().parents[1] / "docs"
FIRST_SEED = 5000
# For what was changed after the first evaluation (see the page): new seeds.
AFTER_MENDING = 6000
SEEDS = 5
NOISE_SEEDS = 20
MEASURES = ("agri", "ce", "prelic_recovery", "prelic_relevance")


def compare(truth: Biclustering, found: Biclustering) -> dict[str, float]:
    """Return the external measures of a solution."""
    if not len(found):
        return dict.fromkeys(MEASURES, 0.0)
    scores = measure(truth, found)
    return {key: float(scores[key]) for key in MEASURES}


def search(X: Values, seed: int) -> tuple[CoherentSubmatrices, float]:
    """Fit the search, K not told; return it with its CPU seconds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SearchWarning)
        start = time.process_time()
        model = CoherentSubmatrices(missing="omit", random_state=seed).fit(X)
    return model, time.process_time() - start


def planted() -> list[dict[str, Any]]:
    """The ten scenarios and the frozen designs, K not told; CCA, LAS and Spectral told K on the first seed."""
    cases: dict[str, Callable[[int], tuple[Values, Biclustering]]] = {
        name: lambda seed, name=name: make_scenario(name, random_state=seed)[:2] for name in SCENARIOS
    }
    cases |= {name: lambda seed, d=design: plant(d, seed) for name, design in FROZEN.items()}
    rows = []
    for name, make in cases.items():
        runs = []
        for seed in range(FIRST_SEED, FIRST_SEED + SEEDS):
            X, truth = make(seed)
            model, seconds = search(X, seed)
            scores = compare(truth, model.solution_)
            runs.append({**scores, "k": len(model.solution_), "planted": len(truth), "seconds": seconds})
        row: dict[str, Any] = {"case": name, "runs": runs}
        if name in SCENARIOS:
            X, truth = make(FIRST_SEED)
            K = len(truth)
            for key, peer in (
                ("CCA", ChengChurch(K, random_state=0)),
                ("LAS", LargeAverageSubmatrices(K, n_restarts=200, two_sided=True, random_state=0)),
                ("Spectral", SpectralCheckerboard(K, random_state=0)),
            ):
                row[key] = compare(truth, peer.fit(X).solution_)["agri"]
        rows.append(row)
        print(name, [run["k"] for run in runs], round(float(np.mean([run["agri"] for run in runs])), 2), flush=True)
    return rows


def noise() -> list[dict[str, Any]]:
    """Runs with a false bicluster in matrices without any."""
    kinds = ("normal", "t5", "t3", "ar", "exponential", "lognormal", "row scales", "column effects", "counts")
    rows = []
    for kind in kinds:
        hits = 0
        first = AFTER_MENDING if kind in ("counts", "t3", "t5") else FIRST_SEED
        for seed in range(first, first + NOISE_SEEDS):
            X = background(kind, (300, 40), np.random.default_rng(seed))
            hits += len(search(X, seed)[0].solution_) > 0
        rows.append({"kind": "AR(1) .7" if kind == "ar" else kind, "runs": NOISE_SEEDS, "false": hits})
        print(rows[-1], flush=True)
    return rows


def limit() -> list[dict[str, Any]]:
    """Share of single additive blocks found (Jaccard index of cells above a half) by size and signal."""
    rows = []
    for r in (10, 20, 40):
        for c in (6, 12):
            for noise_sd in (0.3, 0.5, 0.7, 0.9):
                design = Design((300, 40), ((r, c),), noise=noise_sd, pattern=1.0, shift=0.5)
                hits = 0
                for seed in range(FIRST_SEED, FIRST_SEED + 4):
                    X, truth = plant(design, seed)
                    found = search(X, seed)[0].solution_
                    hits += compare(truth, found)["ce"] > 0.5
                rows.append({"rows": r, "cols": c, "noise": noise_sd, "found": hits / 4})
        print(rows[-1], flush=True)
    return rows


def random_phases(X: Values, rng: np.random.Generator) -> Values:
    """Return rows with their spectra and random phases."""
    m = X.shape[1]
    spectrum = np.fft.rfft(X - X.mean(axis=1, keepdims=True), axis=1)
    turn = np.exp(1j * rng.uniform(0, 2 * np.pi, spectrum.shape))
    if m % 2 == 0:
        turn[:, -1] = rng.choice([-1, 1], len(X))
    return np.asarray(np.fft.irfft(spectrum * turn, n=m, axis=1))


def rotated(X: Values, rng: np.random.Generator) -> Values:
    """Return the row-standardised matrix with its rows mixed by a random rotation: the column covariance stays."""
    Z = (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, keepdims=True)
    return np.asarray(np.linalg.qr(rng.standard_normal((len(Z), len(Z))))[0] @ Z)


def yeast() -> list[dict[str, Any]]:
    """The 17 yeast matrices, and copies of each without biclusters."""
    rows = []
    for record in list_datasets("yeast"):
        X = np.asarray(load_yeast(record.name), dtype=np.float64)
        rng = np.random.default_rng(FIRST_SEED)
        model, seconds = search(X, FIRST_SEED)
        row = {
            "set": record.name.partition(":")[2],
            "shape": list(X.shape),
            "k": len(model.solution_),
            "shapes": [list(b.shape) for b in model.solution_],
            "evidence": [round(float(s), 1) for s in model.evidence_],
            "seconds": seconds,
            "notes": model.notes_,
            "random phases": len(search(random_phases(X, rng), 0)[0].solution_),
            "rotated": len(search(rotated(X, rng), 0)[0].solution_),
        }
        rows.append(row)
        print(row["set"], row["k"], row["random phases"], row["rotated"], round(seconds, 1), flush=True)
    return rows


SECTIONS: dict[str, Callable[[], list[dict[str, Any]]]] = {
    "planted": planted,
    "noise": noise,
    "limit": limit,
    "yeast": yeast,
}


def main() -> None:
    """Run the sections and write the page."""
    from benchmarks.find_page import page

    results = DOCS / "find.json"
    numbers = json.loads(results.read_text(encoding="utf-8")) if results.exists() else {}
    for name in sys.argv[1:] or SECTIONS:
        if name != "page":
            numbers[name] = SECTIONS[name]()
            results.write_text(json.dumps(numbers, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (DOCS / "find.md").write_text(page(numbers), encoding="utf-8")


if __name__ == "__main__":
    main()
