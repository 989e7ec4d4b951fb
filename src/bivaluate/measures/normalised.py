"""NSR and NVE: the error of each bicluster against that of its merger with the nearest other one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bivaluate.measures.measure import COL_SHIFT, ROW_SHIFT, SCALE, SHIFT, Metric
from bivaluate.measures.workspace import Nearest, Workspace
from bivaluate.solution import Biclustering

Floats = NDArray[np.float64]

TIWARI = (
    "Tiwari, Navin Kumar, Bezdek & Rathore 2026, NVE: a separability and coverage-aware internal validation "
    "metric for biclustering, arXiv:2608.29045"
)
_LEE = "Lee et al., normalised squared residue, as defined in arXiv:2608.29045"


def normalised_virtual_error(
    X: Any, solution: Biclustering, *, degenerate: str = "nan", missing: str = "raise", single: str = "nan"
) -> float:
    """Normalised virtual error of a solution (NVE in Tiwari et al.).

    NVE = Σ_k VE(B_k) / Σ_k min_{l≠k} VE(B_kl), where B_kl = (I_k ∪ I_l, J_k ∪ J_l) is the super-bicluster.
    It is a ratio of sums, not a mean of ratios.

    Low is better; ≥ 0; 1 for identical biclusters, and it can exceed 1. Undefined biclusters (one row or one
    column) leave both sums. NaN if fewer than two biclusters are defined (``single="matrix"`` lets the whole
    matrix stand in for the missing partner of a single bicluster), or if all mergers have error 0.
    With ``degenerate="formula"`` a numerator of 0 gives 0, as in the paper.

    References
    ----------
    Tiwari P, Navin Kumar I, Bezdek JC, Rathore P (2026). arXiv:2608.29045.

    Examples
    --------
    >>> X = np.array([[1, 2, 4, 3, 0, 5], [2, 3, 5, 4.5, 1, 2], [2, 5, 8, 7, 3, 1], [6, 1, 2, 4, 1, 3], [3, 7, 1, 6, 4, 5]])
    >>> S = Biclustering([([0, 1, 2], [0, 1, 2, 3]), ([3, 4], [2, 3, 4, 5]), ([1, 2, 3], [0, 1])], X.shape)
    >>> round(normalised_virtual_error(X, S), 6)
    0.934293
    """
    return _nve(Workspace.of(X, solution, degenerate=degenerate, missing=missing, single=single))


def normalised_squared_residue(
    X: Any, solution: Biclustering, *, degenerate: str = "nan", missing: str = "raise", single: str = "nan"
) -> float:
    """Normalised squared residue of a solution (NSR in Lee et al.).

    NSR = Σ_k MSR(B_k) / Σ_k min_{l≠k} MSR(B_kl): NVE with the residue in the place of the virtual error.

    Low is better; ≥ 0, and it can exceed 1. Undefined as :func:`normalised_virtual_error`.

    References
    ----------
    Lee et al., as defined in Tiwari et al. (2026), arXiv:2608.29045.

    Examples
    --------
    >>> X = np.array([[1, 2, 4, 3, 0, 5], [2, 3, 5, 4.5, 1, 2], [2, 5, 8, 7, 3, 1], [6, 1, 2, 4, 1, 3], [3, 7, 1, 6, 4, 5]])
    >>> S = Biclustering([([0, 1, 2], [0, 1, 2, 3]), ([3, 4], [2, 3, 4, 5]), ([1, 2, 3], [0, 1])], X.shape)
    >>> round(normalised_squared_residue(X, S), 6)
    0.562624
    """
    return _nsr(Workspace.of(X, solution, degenerate=degenerate, missing=missing, single=single))


def normalised_virtual_errors(
    X: Any, solution: Biclustering, *, degenerate: str = "nan", missing: str = "raise", single: str = "nan"
) -> Floats:
    """Normalised virtual error of each bicluster: NVE_k = VE(B_k) / min_{l≠k} VE(B_kl).

    Low is better; ≥ 0; near 0 for a coherent bicluster that merges badly with every other one, 1 for a
    redundant one. NaN for undefined biclusters, without a partner, and for 0/0.

    Examples
    --------
    >>> X = np.array([[1, 2, 4, 3, 0, 5], [2, 3, 5, 4.5, 1, 2], [2, 5, 8, 7, 3, 1], [6, 1, 2, 4, 1, 3], [3, 7, 1, 6, 4, 5]])
    >>> S = Biclustering([([0, 1, 2], [0, 1, 2, 3]), ([3, 4], [2, 3, 4, 5]), ([1, 2, 3], [0, 1])], X.shape)
    >>> normalised_virtual_errors(X, S).round(6)
    array([0.180496, 0.471935, 2.301846])
    """
    return _nve_k(Workspace.of(X, solution, degenerate=degenerate, missing=missing, single=single))


def normalised_squared_residues(
    X: Any, solution: Biclustering, *, degenerate: str = "nan", missing: str = "raise", single: str = "nan"
) -> Floats:
    """Normalised squared residue of each bicluster: NSR_k = MSR(B_k) / min_{l≠k} MSR(B_kl).

    Low is better; ≥ 0. Undefined as :func:`normalised_virtual_errors`.
    """
    return _nsr_k(Workspace.of(X, solution, degenerate=degenerate, missing=missing, single=single))


def virtual_error_sums(
    X: Any, solution: Biclustering, *, degenerate: str = "nan", missing: str = "raise", single: str = "nan"
) -> tuple[float, float]:
    """Numerator Σ VE(B_k) and denominator Σ min_{l≠k} VE(B_kl) of NVE.

    A low NVE comes from a small numerator (coherence) or a large denominator (separability); this tells which.
    """
    workspace = Workspace.of(X, solution, degenerate=degenerate, missing=missing, single=single)
    return _sums(workspace, workspace.ve, workspace.nearest_ve)


def _nve(workspace: Workspace) -> float:
    return ratio_of_sums(workspace, workspace.ve, workspace.nearest_ve)


def _nsr(workspace: Workspace) -> float:
    return ratio_of_sums(workspace, workspace.msr, workspace.nearest_msr)


def _nve_k(workspace: Workspace) -> Floats:
    return _ratios(workspace, workspace.ve, workspace.nearest_ve)


def _nsr_k(workspace: Workspace) -> Floats:
    return _ratios(workspace, workspace.msr, workspace.nearest_msr)


def ratio_of_sums(workspace: Workspace, own: Floats, nearest: Nearest) -> float:
    """Return Σ own / Σ merged over the biclusters that have a partner."""
    numerator, denominator = _sums(workspace, own, nearest)
    if workspace.options.degenerate == "formula" and len(own) and numerator == 0.0:
        return 0.0
    return numerator / denominator if denominator > 0.0 else float("nan")


def _sums(workspace: Workspace, own: Floats, nearest: Nearest) -> tuple[float, float]:
    """Return numerator and denominator; the denominator is NaN where no bicluster has a partner."""
    paired = ~np.isnan(nearest.merged)
    if not paired.any():
        alone = own[workspace.defined]
        return float(alone.sum()) if len(alone) else float("nan"), float("nan")
    return float(own[paired].sum()), float(nearest.merged[paired].sum())


def _ratios(workspace: Workspace, own: Floats, nearest: Nearest) -> Floats:
    """Return own / merged for each bicluster; NaN for 0/0 and where there is no partner."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = own / nearest.merged
    if workspace.options.degenerate == "formula":
        ratios = np.where(own == 0.0, 0.0, ratios)
    return np.where(np.isfinite(ratios), ratios, np.nan)


def _metric(
    key: str, symbol: str, name: str, level: str, summary: str, function: Any, compute: Any, direction: str = "low"
) -> Metric:
    on_ve = "ve" in key
    return Metric(
        key=key,
        symbol=symbol,
        name=name,
        level=level,
        direction=direction,
        range=(0.0, float("inf")),
        summary=summary,
        function=function,
        compute=compute,
        invariances=frozenset({SHIFT, SCALE, ROW_SHIFT} | (set() if on_ve else {COL_SHIFT})),
        reference=TIWARI if on_ve else _LEE,
        default=True,
    )


METRICS = (
    _metric(
        "nve_k",
        "NVE_k",
        "normalised virtual error of one bicluster",
        "bicluster",
        "VE of the block over VE of its merger with the nearest other one: small is distinct, 1 is redundant.",
        normalised_virtual_errors,
        _nve_k,
    ),
    _metric(
        "nsr_k",
        "NSR_k",
        "normalised squared residue of one bicluster",
        "bicluster",
        "MSR of the block over MSR of its merger with the nearest other one.",
        normalised_squared_residues,
        _nsr_k,
    ),
    _metric(
        "nsr",
        "NSR",
        "normalised squared residue",
        "solution",
        "Sum of MSR over the sum of MSR of the nearest mergers: coherent and separate, for additive patterns.",
        normalised_squared_residue,
        _nsr,
    ),
    _metric(
        "nve",
        "NVE",
        "normalised virtual error",
        "solution",
        "Sum of VE over the sum of VE of the nearest mergers: coherent and separate; 1 means redundant.",
        normalised_virtual_error,
        _nve,
    ),
    _metric(
        "nve_numerator",
        "ΣVE",
        "numerator of NVE",
        "solution",
        "Sum of VE over the biclusters that have a partner.",
        virtual_error_sums,
        lambda w: _sums(w, w.ve, w.nearest_ve)[0],
    ),
    _metric(
        "nve_denominator",
        "ΣminVE",
        "denominator of NVE",
        "solution",
        "Sum of VE of the nearest mergers; large when biclusters are separate.",
        virtual_error_sums,
        lambda w: _sums(w, w.ve, w.nearest_ve)[1],
        direction="high",
    ),
)
