"""NSR and NVE: the error of each bicluster against that of its merger with the nearest other one."""

from __future__ import annotations

from typing import Any

import numpy as np

from bivaluate._types import Floats
from bivaluate.measures.measure import COL_SHIFT, ROW_AFFINE, measure
from bivaluate.measures.workspace import Workspace
from bivaluate.solution import Biclustering

TIWARI = (
    "Tiwari, Navin Kumar, Bezdek & Rathore 2026, NVE: a separability and coverage-aware internal validation "
    "metric for biclustering, arXiv:2608.29045"
)
_LEE = "Lee et al., normalised squared residue, as defined in arXiv:2608.29045"
_OF_NVE: dict[str, Any] = {
    "invariances": ROW_AFFINE,
    "reference": TIWARI,
    "needs_mergers": True,
    "default": True,
    "of_ve": True,
}
_OF_NSR: dict[str, Any] = {
    "invariances": (*ROW_AFFINE, COL_SHIFT),
    "reference": _LEE,
    "needs_mergers": True,
    "default": True,
}


@measure("nve_k", "NVE_k", "normalised virtual error of one bicluster",
    "VE of the block over VE of its merger with the nearest other one: small is distinct; near 1, "
    "merging costs nothing or rows follow no pattern.",
    formula=r"\mathrm{NVE}_k=\frac{\mathrm{VE}(B_k)}{\min_{l\neq k}\mathrm{VE}(B_{kl})},"
    r"\quad B_{kl}=(I_k\cup I_l,\,J_k\cup J_l)", compute=lambda w: _ratios(w, "ve"),
    **_OF_NVE)  # fmt: skip
def normalised_virtual_errors(X: Any, solution: Biclustering, **options: Any) -> Floats:
    """Normalised virtual error of each bicluster: NVE_k = VE(B_k) / min_{l≠k} VE(B_kl).

    Low is better; ≥ 0; near 0 for a coherent bicluster that merges badly with every other one, near 1 where merging
    costs nothing: for a redundant bicluster, and for one whose rows follow no pattern (1 to 1.6 in noise). NaN for
    undefined biclusters, without a partner, and for 0/0.

    See Also
    --------
    normalised_virtual_error

    Examples
    --------
    >>> normalised_virtual_errors(X, S).round(6)
    array([0.180496, 0.471935, 2.301846])
    """
    workspace = Workspace.of(X, solution, **options)
    return _ratios(workspace.along_axis, "ve")


@measure("nsr_k", "NSR_k", "normalised squared residue of one bicluster",
    "MSR of the block over MSR of its merger with the nearest other one.",
    formula=r"\mathrm{NSR}_k=\frac{\mathrm{MSR}(B_k)}{\min_{l\neq k}\mathrm{MSR}(B_{kl})}",
    compute=lambda w: _ratios(w, "msr"), **_OF_NSR)  # fmt: skip
def normalised_squared_residues(X: Any, solution: Biclustering, **options: Any) -> Floats:
    """Normalised squared residue of each bicluster: NSR_k = MSR(B_k) / min_{l≠k} MSR(B_kl).

    Low is better; ≥ 0. Undefined as :func:`normalised_virtual_errors`.

    See Also
    --------
    normalised_squared_residue

    Examples
    --------
    >>> normalised_squared_residues(X, S).round(3)
    array([0.161, 0.203, 1.472])
    """
    workspace = Workspace.of(X, solution, **options)
    return _ratios(workspace, "msr")


@measure("nsr", "NSR", "normalised squared residue",
    "Sum of MSR over the sum of MSR of the nearest mergers: small is coherent and separate, for additive patterns.",
    formula=r"\mathrm{NSR}=\frac{\sum_k\mathrm{MSR}(B_k)}{\sum_k\min_{l\neq k}\mathrm{MSR}(B_{kl})}", level="solution",
    main_rank=6, compute=lambda w: ratio_of_sums(w, "msr"), **_OF_NSR)  # fmt: skip
def normalised_squared_residue(X: Any, solution: Biclustering, **options: Any) -> float:
    """Normalised squared residue of a solution (NSR in Lee et al.).

    NSR = Σ_k MSR(B_k) / Σ_k min_{l≠k} MSR(B_kl): NVE with the residue in place of the virtual error.

    Low is better; ≥ 0, and it can exceed 1. Undefined as :func:`normalised_virtual_error`.

    See Also
    --------
    normalised_virtual_error

    Examples
    --------
    >>> round(normalised_squared_residue(X, S), 6)
    0.562624
    """
    workspace = Workspace.of(X, solution, **options)
    return ratio_of_sums(workspace, "msr")


@measure("nve", "NVE", "normalised virtual error",
    "Sum of VE over the sum of VE of the nearest mergers: small is coherent and separate; near 1, "
    "merging costs nothing or rows follow no pattern.",
    formula=r"\mathrm{NVE}=\frac{\sum_k\mathrm{VE}(B_k)}{\sum_k\min_{l\neq k}\mathrm{VE}(B_{kl})}", level="solution",
    main_rank=3, compute=lambda w: ratio_of_sums(w, "ve"), **_OF_NVE)  # fmt: skip
def normalised_virtual_error(X: Any, solution: Biclustering, **options: Any) -> float:
    """Normalised virtual error of a solution (NVE in Tiwari et al.).

    NVE = Σ_k VE(B_k) / Σ_k min_{l≠k} VE(B_kl), where B_kl = (I_k ∪ I_l, J_k ∪ J_l) is the merger.
    It is a ratio of sums, not a mean of ratios.

    Low is better; ≥ 0; 1 for identical biclusters, and it can exceed 1. Undefined biclusters (one row or one
    column) leave both sums. NaN if fewer than two biclusters are defined, or if all mergers have error 0.
    With ``degenerate="formula"`` a numerator of 0 gives 0, as in the paper.

    See Also
    --------
    normalised_virtual_errors, bivaluate.normalised_virtual_error_coverage

    Examples
    --------
    >>> round(normalised_virtual_error(X, S), 6)
    0.934293
    """
    workspace = Workspace.of(X, solution, **options)
    return ratio_of_sums(workspace.along_axis, "ve")


@measure("nve_numerator", "ΣVE", "numerator of NVE", "Sum of VE over the biclusters that have a partner.",
    level="solution", compute=lambda w: _sums(w, "ve")[0], **_OF_NVE | {"default": False})  # fmt: skip
@measure("nve_denominator", "ΣminVE", "denominator of NVE",
    "Sum of VE of the nearest mergers; large when biclusters are separate.", level="solution", direction="high",
    compute=lambda w: _sums(w, "ve")[1], **_OF_NVE | {"default": False})  # fmt: skip
def virtual_error_sums(X: Any, solution: Biclustering, **options: Any) -> tuple[float, float]:
    """Numerator Σ VE(B_k) and denominator Σ min_{l≠k} VE(B_kl) of NVE.

    A low NVE comes from a small numerator (coherence) or a large denominator (separability); this tells which.

    Returns
    -------
    numerator : float
        Σ VE(B_k) over the biclusters that have a partner.
    denominator : float
        Σ min VE(B_kl); NaN where no bicluster has a partner.

    Examples
    --------
    >>> [round(part, 4) for part in virtual_error_sums(X, S)]
    [1.8008, 1.9274]
    """
    workspace = Workspace.of(X, solution, **options)
    return _sums(workspace.along_axis, "ve")


def ratio_of_sums(workspace: Workspace, error: str) -> float:
    """Return Σ own / Σ merged over the biclusters that have a partner; `error` is ``"ve"`` or ``"msr"``."""
    numerator, denominator = _sums(workspace, error)
    if workspace.options.degenerate == "formula" and len(workspace.solution) and numerator == 0.0:
        return 0.0
    return numerator / denominator if 0.0 < denominator < np.inf else float("nan")


def _sums(workspace: Workspace, error: str) -> tuple[float, float]:
    """Return numerator and denominator, added up once; the denominator is NaN where no bicluster has a partner."""
    return workspace.once(_added_up, error)


def _added_up(workspace: Workspace, error: str) -> tuple[float, float]:
    own, merged = _own_and_merged(workspace, error)
    paired = ~np.isnan(merged)
    if not paired.any():
        alone = own[workspace.defined]
        return float(alone.sum()) if len(alone) else float("nan"), float("nan")
    return float(own[paired].sum()), float(merged[paired].sum())


def _ratios(workspace: Workspace, error: str) -> Floats:
    """Return own / merged for each bicluster; NaN for 0/0 and where there is no partner."""
    own, merged = _own_and_merged(workspace, error)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = own / merged
    if workspace.options.degenerate == "formula":
        ratios = np.where(own == 0.0, 0.0, ratios)
    return np.where(np.isfinite(ratios) & (merged < np.inf), ratios, np.nan)


def _own_and_merged(workspace: Workspace, error: str) -> tuple[Floats, Floats]:
    """Return the errors of the biclusters and of their nearest mergers; the mergers first, they hold both."""
    which = ("ve", "msr").index(error)
    merged = (workspace.nearest_msr if which else workspace.nearest_ve).merged
    return workspace.floored_errors[which], merged
