"""What a careful reader would remark about a scored solution, in plain sentences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bivaluate.chance.assumptions import describe_assumptions
from bivaluate.chance.moments import null_mean
from bivaluate.measures.workspace import Workspace

SAME_PATTERN = 1.1
COHERENT = 0.8
NEGLIGIBLE_COVERAGE = 0.01
MOST = 10


def describe(workspace: Workspace, names: Sequence[str], dropped: Sequence[str] = ()) -> list[str]:
    """Return the remarks, the gravest first. `names` are what the biclusters are called."""
    sentences: list[str] = []
    if dropped:
        sentences.append(f"{_list(dropped)} left out: smaller than the minimum size.")
    if not len(workspace.solution):
        sentences.append("The solution has no biclusters: nothing to score.")
        return sentences
    sentences += _degenerate(workspace, names)
    if len(workspace.solution) == 1 and workspace.options.single == "nan":
        sentences.append("There is one bicluster: NSR and NVE need another one to compare it with.")
    sentences += _coverage(workspace)
    sentences += _redundant(workspace, names)
    sentences += _no_better_than_noise(workspace, names)
    sentences += describe_assumptions(workspace.X)
    return sentences


def _degenerate(workspace: Workspace, names: Sequence[str]) -> list[str]:
    rows, cols = workspace.observed
    found = []
    for k in range(len(names)):
        if workspace.degenerate[k]:
            what = "1 row" if rows[k] == 1 else "1 column" if cols[k] == 1 else "no observed cells to compare"
            found.append(f"{names[k]} has {what}: coherence is not defined for it.")
        elif cols[k] == 2:
            found.append(f"{names[k]} has 2 columns: VE says nothing here.")
    return _capped(found)


def _coverage(workspace: Workspace) -> list[str]:
    share = workspace.cover.cells / (workspace.shape[0] * workspace.shape[1])
    if share < NEGLIGIBLE_COVERAGE:
        return [f"The solution explains only {100 * share:.2g} % of the matrix."]
    return []


def _redundant(workspace: Workspace, names: Sequence[str]) -> list[str]:
    """Pairs that are coherent on their own and stay so when merged."""
    usable = workspace.defined & ~workspace.degenerate & (workspace.c > 2)
    ve, merged, jaccard = workspace.ve, workspace.merged_ve, workspace.cover.jaccard
    mean = (ve[:, None] + ve[None, :]) / 2
    noise = null_mean(workspace.r, workspace.c)
    coherent = usable & (ve < COHERENT * noise)
    alike = (merged <= SAME_PATTERN * mean + 1e-12) & coherent[:, None] & coherent[None, :]
    same = jaccard == 1.0
    np.fill_diagonal(same, False)
    np.fill_diagonal(alike, False)
    found = [f"{_and(names, group)} are the same bicluster." for group in _groups(same)]
    for group in _groups(alike & ~same):
        apart = ", ".join(f"{ve[k]:.3g}" for k in group)
        together = max(merged[k, other] for k in group for other in group if k != other)
        costs = "them" if len(group) == 2 else "any two of them"
        found.append(
            f"{_and(names, group)} are nearly the same pattern: merging {costs} costs nothing "
            f"(VE {apart} apart, {'' if len(group) == 2 else 'at most '}{together:.3g} together)."
        )
    return _capped(found)


def _groups(related: NDArray[np.bool_]) -> list[list[int]]:
    """Split the pairs into groups in which everyone is related to everyone, the largest first."""
    related = related.copy()
    groups = []
    while related.any():
        group = [int(related.sum(axis=1).argmax())]
        candidates = related[group[0]].copy()
        while candidates.any():
            group.append(int(np.where(candidates, (related & candidates).sum(axis=1), -1).argmax()))
            candidates &= related[group[-1]]
        related[np.ix_(group, group)] = False
        groups.append(sorted(group))
    return groups


def _and(names: Sequence[str], group: Sequence[int]) -> str:
    *most, last = (names[k] for k in group)
    return f"{', '.join(most)} and {last}"


def _no_better_than_noise(workspace: Workspace, names: Sequence[str]) -> list[str]:
    noise = null_mean(workspace.r, workspace.c)
    usable = workspace.defined & ~workspace.degenerate & (workspace.c > 2)
    found = [
        f"{names[k]} is no more coherent than noise of its size (VE {workspace.ve[k]:.3g}, noise {noise[k]:.3g})."
        for k in np.flatnonzero(usable & (workspace.ve >= noise)).tolist()
    ]
    return _capped(found)


def _capped(sentences: list[str]) -> list[str]:
    if len(sentences) <= MOST:
        return sentences
    return [*sentences[:MOST], f"… and {len(sentences) - MOST} more like the last one."]


def _list(names: Sequence[str]) -> str:
    shown = ", ".join(names[:MOST])
    return shown if len(names) <= MOST else f"{shown} and {len(names) - MOST} more"
