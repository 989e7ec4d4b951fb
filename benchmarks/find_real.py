"""Real data for the benchmark of the coherent submatrix search: yeast with GO terms, single cells, documents."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import find_peers as peers
from bivaluate import evidence_table
from bivaluate.datasets import load, load_labelled, load_yeast
from bivaluate.solution import Biclustering

Values = NDArray[np.float64]
Search = Callable[..., Any]
SMALLEST_TERM, LARGEST_TERM = 5, 300
SIGNIFICANT = 0.05
# K told to the other algorithms where the search finds fewer.
FEWEST_TOLD = 5
# Of the single cells and of the documents: correlated columns take time that grows with their square.
MOST_GENES = 60
DOCUMENTS, WORDS = 500, 100


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


@functools.lru_cache(maxsize=1)
def go_terms() -> dict[str, frozenset[str]]:
    """Return the GO terms of every yeast gene (systematic name), those above them in the ontology included."""
    folder = peers.biclustlib() / "biclustlib" / "benchmark" / "util"
    parents: dict[str, set[str]] = {}
    term = ""
    for line in (folder / "go-basic.obo").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            term = ""
        elif line.startswith("id: GO:"):
            term = line[4:]
            parents[term] = set()
        elif term and line.startswith("is_a: "):
            parents[term].add(line[6:16])
        elif term and line.startswith("relationship: part_of "):
            parents[term].add(line[22:32])

    @functools.cache
    def above(name: str) -> frozenset[str]:
        return frozenset({name}).union(*(above(p) for p in parents.get(name, ())))

    genes: dict[str, set[str]] = {}
    for line in (folder / "sgd.gaf").read_text(encoding="utf-8").splitlines():
        if not line.startswith("!"):
            cells = line.split("\t")
            if "NOT" not in cells[3]:
                genes.setdefault(cells[10].split("|")[0], set()).update(above(cells[4]))
    return {gene: frozenset(terms) for gene, terms in genes.items()}


def enriched(genes: Sequence[str], solution: Biclustering) -> float:
    """Return the share of biclusters with a GO term of q below .05: hypergeometric, Benjamini-Hochberg in a bicluster."""
    from scipy.stats import false_discovery_control, hypergeom

    of_gene = [go_terms().get(gene, frozenset()) for gene in genes]
    names = sorted(frozenset().union(*of_gene))
    at = {name: k for k, name in enumerate(names)}
    has = np.zeros((len(genes), len(names)), dtype=np.uint8)
    for i, terms in enumerate(of_gene):
        has[i, [at[name] for name in terms]] = 1
    total = has.sum(axis=0, dtype=np.int64)
    has = has[:, (total >= SMALLEST_TERM) & (total <= LARGEST_TERM)]
    total = has.sum(axis=0, dtype=np.int64)
    hits = 0
    for block in solution:
        here = has[block.rows].sum(axis=0, dtype=np.int64)
        p = hypergeom.sf(here - 1, len(genes), total, len(block.rows))
        hits += bool(false_discovery_control(np.clip(p, 0.0, 1.0)).min() < SIGNIFICANT)
    return hits / len(solution) if len(solution) else float("nan")


def yeast(name: str, search: Search) -> dict[str, Any]:
    """One yeast matrix: what is found, and the evidence and GO terms of it and of what other algorithms return."""
    frame = load_yeast(name)
    X, genes = np.asarray(frame, dtype=np.float64), [str(gene).strip() for gene in frame.index]
    model, seconds = search(X, 0)
    found = model.solution_
    row: dict[str, Any] = {
        "shape": list(X.shape),
        "k": len(found),
        "shapes": [list(b.shape) for b in found],
        "seconds": seconds,
        "notes": model.notes_,
        "find": _summary(X, genes, found),
    }
    for tool in ("CCA", "LAS", "Spectral"):
        K = min(max(len(found), FEWEST_TOLD), X.shape[1])
        solution, _, reason = peers.run(tool, X, K)
        row[tool] = {"reason": reason} if solution is None else _summary(X, genes, solution)
    return row


def _summary(X: Values, genes: Sequence[str], solution: Biclustering) -> dict[str, Any]:
    if not len(solution):
        return {"k": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        evidence = evidence_table(X, solution).alone
    return {
        "k": len(solution),
        "enriched": enriched(genes, solution),
        "evidence": float(np.nanmedian(evidence)) if not np.isnan(evidence).all() else None,
        "pay": float(np.mean([bool(s > 0) for s in evidence])),
    }


def cells(search: Search) -> dict[str, Any]:
    """Single cells (PBMC): 700 cells x the 60 genes that vary most, as they are and as normal scores within each cell.

    Of what is found it says how pure in cell types it is.
    """
    data = load_labelled("pbmc68k")
    X = data.matrix.values
    most = np.sort(np.argsort(-X.var(axis=1), kind="stable")[:MOST_GENES])
    values = np.ascontiguousarray(X[most].T)
    row: dict[str, Any] = {"shape": list(values.shape), "all": list(X.T.shape)}
    for name, version in (("as they are", values), ("normal scores", normal_scores(values))):
        model, seconds = search(version, 0)
        blocks = []
        for block, evidence in zip(model.solution_, model.evidence_, strict=True):
            share = {kind: float(mask[block.rows].mean()) for kind, mask in data.col_classes.items()}
            kind = max(share, key=lambda kind: share[kind])
            blocks.append(
                {
                    "shape": list(block.shape),
                    "evidence": float(evidence),
                    "type": kind,
                    "share": share[kind],
                    "overall": float(data.col_classes[kind].mean()),
                    "genes": [data.matrix.row_label(int(most[j])) for j in block.cols],
                }
            )
        row[name] = {"seconds": seconds, "notes": model.notes_, "blocks": blocks}
    return row


def normal_scores(X: Values) -> Values:
    """Return the normal quantiles of the ranks within each row; equal values share theirs."""
    from scipy.special import ndtri
    from scipy.stats import rankdata

    return np.asarray(ndtri((rankdata(X, axis=1) - 0.5) / X.shape[1]))


def documents(search: Search) -> dict[str, Any]:
    """Documents (Reuters R8): the first documents x their most frequent words, as counts and as log(1 + count)."""
    data = load("reuters_r8")
    dense = data.block(np.arange(DOCUMENTS), np.arange(data.shape[1]))
    dense = dense[:, np.sort(np.argsort(-dense.sum(axis=0), kind="stable")[:WORDS])]
    row: dict[str, Any] = {"shape": list(dense.shape), "all": list(data.shape)}
    for name, values in (("counts", dense), ("logarithms", np.log1p(dense))):
        model, seconds = search(values, 0)
        shapes = [list(block.shape) for block in model.solution_]
        row[name] = {"k": len(shapes), "shapes": shapes, "seconds": seconds, "notes": model.notes_}
    return row
