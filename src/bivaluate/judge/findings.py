"""What a careful reader would remark about a scored solution, in plain sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bivaluate._text import Advice, Option, listing, percent, plural
from bivaluate.chance.assumptions import SMOOTHNESS, broken_assumptions, centre_columns
from bivaluate.chance.evidence import evidence_scores, evidence_table
from bivaluate.chance.scores import adjusted_error, centred_scores
from bivaluate.chance.search import refit_cut
from bivaluate.judge.limits import DUPLICATE, is_negligible, is_noise, is_thin, pays
from bivaluate.judge.redundancy import RedundantGroup, groups_of
from bivaluate.judge.verdict import NO_BICLUSTERS, against_surrogates
from bivaluate.matrix import Matrix
from bivaluate.measures.registry import symbol
from bivaluate.measures.workspace import Workspace
from bivaluate.solution import Biclustering

MOST = 10


def describe(
    workspace: Workspace, names: Sequence[str], dropped: Sequence[str] = (), small: Sequence[str] = ()
) -> list[str]:
    """Return the remarks, the most serious first. `names` are what the biclusters are called.

    Those `dropped` and those `small` are below the minimum size; the first were left out, the others are scored.
    """
    sentences: list[str] = []
    if small:
        one = len(small) == 1
        which = f"{listing(small, MOST)} {'is' if one else 'are'} smaller than the minimum size"
        how = Advice("; pass ", Option("small", "drop"), f" to leave {'it' if one else 'them'} out")
        sentences.append(Advice(f"{which}, and counted all the same", how, "."))
    if dropped:
        sentences.append(f"{listing(dropped, MOST)} left out: smaller than the minimum size.")
    if not len(workspace.solution):
        sentences.append(NO_BICLUSTERS)
        return sentences
    sentences += _degenerate(workspace, names)
    if len(workspace.solution) == 1 and workspace.options.single == "nan":
        sentences.append(
            f"There is one bicluster: {symbol('nsr')} and {symbol('nve')} need another one to compare it with."
        )
    sentences += _coverage(workspace)
    groups = groups_of(workspace)
    sentences += _redundant(workspace, names, groups)
    sentences += adding_nothing(workspace, names, groups)
    sentences += _no_better_than_noise(workspace, names)
    sentences += broken_assumptions(workspace.matrix, workspace.solution).values()
    sentences += _absent(workspace.matrix)
    return sentences


def _absent(matrix: Matrix) -> list[str]:
    """Say how the cells that a sparse matrix does not store are counted."""
    if not matrix.sparse:
        return []
    if matrix.absent == "zero":
        counted, other = "zero, as in counts", Option("absent", "missing")
        why = " if they are unknown, as in ratings"
    else:
        counted, other = "missing, as in ratings", Option("absent", "zero")
        why = " if they are zeros, as in counts"
    found: list[str] = [
        Advice(f"X is sparse: cells that are not stored count as {counted}", Advice("; pass ", other, why), ".")
    ]
    converted = getattr(matrix.source, "converted_from", "")
    if converted:
        by = "column by column " if converted == "CSC" else ""
        found.append(f"The cells of X are stored {by}({converted}) and were sorted by rows (CSR) once.")
    return found


def _degenerate(workspace: Workspace, names: Sequence[str]) -> list[str]:
    rows, cols = workspace.observed
    found = []
    for k in range(len(names)):
        if workspace.degenerate[k]:
            what = "1 row" if rows[k] == 1 else "1 column" if cols[k] == 1 else "no observed cells to compare"
            found.append(f"{names[k]} has {what}: coherence is not defined for it.")
        elif is_thin(rows[k], cols[k]):
            found.append(f"{names[k]} has two columns, which {symbol('ve')} cannot judge.")
    return _capped(found)


def _coverage(workspace: Workspace) -> list[str]:
    share = workspace.cover.cells / (workspace.shape[0] * workspace.shape[1])
    if is_negligible(share):
        return [f"The solution covers only {percent(share)} of the matrix."]
    return []


def _redundant(workspace: Workspace, names: Sequence[str], groups: Sequence[RedundantGroup]) -> list[str]:
    merged = workspace.merged_ve
    found = []
    for group in groups:
        called = listing([names[k] for k in group.members])
        blocks = [workspace.solution[k] for k in group.members]
        if group.duplicates:
            same = all(block == blocks[0] for block in blocks)
            what = "are the same bicluster" if same else f"share at least {percent(DUPLICATE)} of their cells"
            found.append(f"{called} {what}.")
            continue
        outer = max(group.members, key=lambda k: workspace.solution[k].size)
        inner = [k for k in group.members if k != outer]
        if all(workspace.cover.intersections[k, outer] == workspace.solution[k].size for k in inner):
            lie = "lies" if len(inner) == 1 else "lie"
            found.append(
                f"{listing([names[k] for k in inner])} {lie} within {names[outer]}, which is at least as coherent for its size."
            )
            continue
        apart = ", ".join(f"{merged[k, k]:.3g}" for k in group.members)
        together = max(merged[pair] for pair in group.pairs)
        two = len(group.members) == 2
        found.append(
            f"{called} are nearly the same pattern: merging {'them' if two else 'any two of them'} costs nothing "
            f"({symbol('ve')} {apart} apart, {'' if two else 'at most '}{together:.3g} together)."
        )
    return _capped(found)


def adding_nothing(workspace: Workspace, names: Sequence[str], groups: Sequence[RedundantGroup]) -> list[str]:
    """Name biclusters that stand out on their own but save nothing beside the others, unless they are redundant."""
    evidence, shared = evidence_scores(workspace), workspace.cover.intersections
    told = {k for group in groups for k in group.members}
    found = []
    for k in np.flatnonzero(pays(evidence.alone) & ~evidence.pays).tolist():
        if k in told:
            continue
        others = [names[other] for other in sorted(evidence.order) if shared[k, other]]
        beside = (
            f"{listing(others, MOST)}, which share{'s' if len(others) == 1 else ''} cells with it"
            if others
            else "the others"
        )
        found.append(f"{names[k]} stands out on its own, but adds nothing to {beside}.")
    return _capped(found)


def none_stands_out(found: int) -> str:
    """Say of several biclusters that they are noise, where no verdict says it."""
    return f"None of the {found} biclusters stands out from noise: each saves nothing under any kind of pattern."


def _no_better_than_noise(workspace: Workspace, names: Sequence[str]) -> list[str]:
    evidence = evidence_scores(workspace)
    noise = is_noise(evidence, centred_scores(workspace).adjusted) & workspace.defined & ~workspace.degenerate
    if len(names) > 1 and noise.all():
        return [none_stands_out(len(names))]
    found = [
        f"{names[k]} does not stand out from noise ("
        + (
            f"evidence {evidence.alone[k]:.3g} nats on its own)."
            if not np.isnan(evidence.alone[k])
            else f"{evidence.reasons[k]})."
        )
        for k in np.flatnonzero(noise).tolist()
    ]
    return _capped(found)


def _capped(sentences: list[str]) -> list[str]:
    if len(sentences) <= MOST:
        return sentences
    return [*sentences[:MOST], f"… and {len(sentences) - MOST} similar findings."]


def ordered_column_findings(
    X: Any,
    solution: Biclustering,
    names: Sequence[str],
    findings: Sequence[str] = (),
    *,
    null_runs: int = 5,
    random_state: int | None = 0,
) -> tuple[str, list[str]]:
    """Say which biclusters are more coherent than anything a search finds in surrogates as smooth as the data.

    Returns a sentence for the verdict, and the `findings` without the advice to do what is done here, with the figures:
    aVE on column-centred data, as advised, beside :func:`bivaluate.chance.search.refit_cut`. Pruning has the same rule:
    one that is not below the cut is kept if it pays.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.cumsum(rng.normal(size=(40, 20)), axis=1)
    >>> S = Biclustering([(range(8), range(10)), (range(8, 20), range(10))], X.shape)
    >>> said, figures = ordered_column_findings(X, S, ["B1", "B2"], null_runs=1)
    >>> said
    'No bicluster is more coherent than what a search finds in surrogates as smooth as the data.'
    >>> print(figures[0][:42])
    Columns are ordered: in 1 phase-randomised
    """
    matrix = Matrix.of(X)
    centred = centre_columns(matrix.values)
    cut = smooth_cut(centred, solution, null_runs, random_state)
    errors = [adjusted_error(bicluster.of(centred), matrix.shape) for bicluster in solution]
    evidence = evidence_table(matrix, solution)
    below = [k for k, error in enumerate(errors) if error < cut]
    paying = [names[k] for k in np.flatnonzero(evidence.pays).tolist() if k not in below]
    shown = [f"{name} ({error:.2f})" for name, error in zip(names, errors, strict=True)]
    passed, failed = (", ".join(text for k, text in enumerate(shown) if (k in below) == good) for good in (True, False))
    figures = (
        f"Columns are ordered: in {plural(null_runs, 'phase-randomised surrogate')} a search reaches "
        f"{symbol('ave')} {cut:.2f}. Below that (columns centred): {passed or 'none'}; not below: {failed or 'none'}. "
        "One that is not below still counts if its evidence is above 0: prune keeps it, too."
    )
    advised, followed = (broken_assumptions(matrix, solution, ordered=known).get(SMOOTHNESS) for known in (False, True))
    left = [followed if followed and sentence == advised else sentence for sentence in findings]
    return against_surrogates([names[k] for k in below], paying), [*left, figures]


def smooth_cut(values: NDArray[np.float64], solution: Biclustering, runs: int, random_state: int | None) -> float:
    """Return the lowest aVE that a search finds in surrogates as smooth as prepared values, at most the usual cut."""
    shapes = [bicluster.shape for bicluster in solution]
    return refit_cut(values, shapes, null="phase", runs=runs, centre="none", random_state=random_state)
