"""What a careful reader would remark about a scored solution and its data, in plain sentences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bivaluate._text import Advice, Option, all_of, listing, number, percent
from bivaluate.chance.evidence import LOGARITHMS, NOT_SUPPORTED, TOO_SMALL, Evidence
from bivaluate.judge.limits import WITHOUT_PROFILE, is_indistinct, is_negligible, is_thin
from bivaluate.judge.verdict import NO_BICLUSTERS
from bivaluate.matrix import Matrix
from bivaluate.measures.workspace import Workspace
from bivaluate.registry import symbol

MOST = 10
Texts = Sequence[str]


_SAMPLES = Option(python='Matrix.of(X).called(columns="samples")', command="--columns samples")


def describe_findings(
    workspace: Workspace, names: Texts, dropped: Texts, small: Texts, evidence: Evidence | None, nve: float
) -> list[str]:
    """Return the remarks, the most serious first; evidence and NVE are not computed where they were not asked for."""
    sentences: list[str] = []
    if small:
        one = len(small) == 1
        which = f"{_are(small)} smaller than the minimum size"
        how = Advice("; pass ", Option("small", "drop"), f" to leave {'it' if one else 'them'} out")
        sentences.append(Advice(f"{which}, and counted all the same", how, "."))
    if dropped:
        sentences.append(f"{listing(dropped, MOST)} left out: smaller than the minimum size.")
    if not len(workspace.solution):
        return [*sentences, NO_BICLUSTERS]
    sentences += _degenerate(workspace, names)
    if len(workspace.solution) == 1 and workspace.options.single == "nan":
        alone = f"There is one bicluster: {symbol('nsr')} and {symbol('nve')} need another one to compare it with"
        how = Advice("; ", Option("single", "matrix"), " compares it with the whole matrix")
        sentences.append(Advice(alone, how, "."))
    sentences += _all_columns(workspace) + _single_lines(workspace)
    if {"grey", "turquoise"} <= {*names}:
        sentences.append(f"grey is what WGCNA calls {workspace.matrix.nouns[0]} of no module.")
    if is_negligible(share := workspace.cover.cells / (workspace.shape[0] * workspace.shape[1])):
        sentences.append(f"The solution covers only {percent(share)} of the matrix.")
    if evidence is not None:
        sentences += _not_judged(evidence, workspace, names) + _against_nve(evidence, nve)
        if evidence.family == LOGARITHMS:
            sentences.append("The values are positive and skewed: evidence is of their logarithms.")
        if evidence.series > 0:
            columns = workspace.matrix.nouns[1]
            said = f"Neighbouring {columns} are correlated, as in a time series; evidence allows for that."
            known = f"{said} If their order means nothing, say what they are: "
            sentences.append(Advice(known, _SAMPLES, "."))
    return sentences + _absent(workspace.matrix)


def _are(names: Sequence[str]) -> str:
    return f"{listing(names, MOST)} {'is' if len(names) == 1 else 'are'}"


def _not_judged(evidence: Evidence, workspace: Workspace, names: Sequence[str]) -> list[str]:
    """Say why biclusters are too small to judge, and why clusters of rows over all columns are not supported."""
    found, whole = [], dict[str, list[str]]()
    small = [k for k, verdict in enumerate(evidence.verdicts) if verdict == TOO_SMALL]
    if small:
        first = f"; {names[small[0]]}" if len(small) > 1 else ""
        found.append(f"{_are([names[k] for k in small])} too small to judge{first}: {evidence.reasons[small[0]]}.")
    for k in np.flatnonzero((workspace.c == workspace.shape[1]) & ~np.isnan(evidence.gain)).tolist():
        if evidence.verdicts[k] == NOT_SUPPORTED:
            whole.setdefault(evidence.reasons[k], []).append(names[k])
    for why, called in whole.items():
        found.append(f"{_are(called)} not supported: {why if len(called) == 1 else why.replace('its ', 'their ')}.")
    return found


def _against_nve(evidence: Evidence, nve: float) -> list[str]:
    """Say why NVE calls supported biclusters indistinct, where it does: it compares profiles across columns alone."""
    flat = sum(evidence.patterns[k] in WITHOUT_PROFILE for k in evidence.order)
    if evidence.n_supported < 2 or not is_indistinct(nve) or not flat:
        return []
    every = all_of(flat, "supported bicluster")
    some = every if flat == evidence.n_supported else f"{flat} of the {evidence.n_supported} supported biclusters"
    differ = "differs" if flat == 1 else "differ"
    looks = f"{symbol('nve')} ({number(nve)}) looks poor"
    return [f"{looks} because {some} {differ} in level, which {symbol('nve')} ignores."]


def _absent(matrix: Matrix) -> list[str]:
    """Say how the cells that a sparse matrix does not store are counted."""
    if not matrix.sparse:
        return []
    read, other, why = ("0", "missing", "unknown") if matrix.absent == "zero" else ("unknown", "zero", "0")
    how = Advice("; ", Option("absent", other), f" reads them as {why}")
    return [Advice(f"Values not stored in the sparse matrix are read as {read}", how, ".")]


def _degenerate(workspace: Workspace, names: Sequence[str]) -> list[str]:
    rows, cols = workspace.observed
    found = []
    for k in range(len(names)):
        if workspace.degenerate[k]:
            what = "1 row" if rows[k] == 1 else "1 column" if cols[k] == 1 else "no observed values to compare"
            found.append(f"{names[k]} has {what}: coherence is not defined for it.")
        elif is_thin(rows[k], cols[k]):
            found.append(f"{names[k]} has two {workspace.matrix.nouns[1]}, which {symbol('ve')} cannot judge.")
    return found[:MOST] + ([f"… and {len(found) - MOST} similar findings."] if len(found) > MOST else [])


def _single_lines(workspace: Workspace) -> list[str]:
    """Say that most factors have one row, or column, alone, and what gives them more."""
    for sizes, noun in zip((workspace.r, workspace.c), workspace.matrix.nouns, strict=True):
        alone, rule = int((sizes == 1).sum()), workspace.solution.info.get("rule")
        if rule and alone > len(sizes) / 2:
            found = f"{alone} of the {len(sizes)} factors have one {noun.removesuffix('s')} alone"
            how = "Logarithms or tf-idf in place of counts, or the rule top:0.1 in place of"
            return [f"{found}, because a few large values outweigh all others. {how} {rule}, give larger groups."]
    return []


def _all_columns(workspace: Workspace) -> list[str]:
    """Say that no bicluster leaves out a column, as those of a table that names rows alone."""
    n_cols, columns = workspace.shape[1], workspace.matrix.nouns[1]
    if not bool((workspace.c == n_cols).all()):
        return []
    which = "Every bicluster takes" if len(workspace.solution) > 1 else "The bicluster takes"
    return [f"{which} in all {n_cols:,} {columns}: where a file names none, all are taken."]
