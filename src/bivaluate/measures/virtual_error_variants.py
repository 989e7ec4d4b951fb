"""Virtual error read the other way round, and with a pattern no row can dominate."""

from __future__ import annotations

from typing import Any

import numpy as np

from bivaluate._check import check_values
from bivaluate.measures._blocks import CONSTANT, standardise, virtual_error_value
from bivaluate.measures.measure import COL_SHIFT, ROW_SCALE, ROW_SHIFT, SCALE, SHIFT, Metric


def transposed_virtual_error(A: Any) -> float:
    """Virtual error of the transposed block: VEt(B) = VE(Bᵀ).

    Columns are standardised over the rows and compared with the virtual condition, the row means. Low is better;
    in [0, 2); 0 when every column is a positive affine image of one profile. Not changed by shifting columns.
    Large row offsets drive it to 0 without any pattern: centre rows, or prefer VE when rows are the objects.
    0 by the formula for one row or one column; :func:`bivaluate.evaluate` leaves those undefined.

    References
    ----------
    Pontes B, Giráldez R, Aguilar-Ruiz JS (2010). Measuring the quality of shifting and scaling patterns in
    biclusters. PRIB 2010; reviewed in their Quality measures for gene expression biclusters, PLoS ONE 10:e0115497
    (2015). doi:10.1371/journal.pone.0115497

    Examples
    --------
    >>> round(transposed_virtual_error([[1, 2, 4, 3], [2, 3, 5, 4.5], [2, 5, 8, 7]]), 6)
    0.194095
    """
    return virtual_error_value(np.ascontiguousarray(check_values(A, name="A").T))


def standardised_virtual_error(A: Any) -> float:
    """Virtual error against the mean of the standardised rows instead of that of the raw rows.

    Low is better; in [0, 2). In plain VE rows of large spread dominate the virtual pattern; here none does, so
    rescaling single rows (by positive factors) changes nothing. Constant rows count as zeros; a constant pattern
    too. 0 by the formula for one row or one column; :func:`bivaluate.evaluate` leaves those undefined.

    Examples
    --------
    >>> block = np.array([[1, 2, 4, 3], [2, 3, 5, 4.5], [2, 5, 8, 7]])
    >>> round(standardised_virtual_error(block), 6)
    0.101872
    >>> round(standardised_virtual_error(block * [[1], [10], [0.1]]), 6)
    0.101872
    """
    values = check_values(A, name="A")
    if min(values.shape) < 2:
        return 0.0
    rows = standardise(values)
    pattern = rows.mean(axis=0)
    if np.ptp(pattern) <= CONSTANT * np.abs(rows).max():
        return float(np.abs(rows).mean())
    return float(np.abs(rows - standardise(pattern[None, :])).mean())


_DIVINA = "doi:10.1016/j.compbiomed.2011.11.015"

METRICS = (
    Metric(
        key="vet",
        symbol="VEt",
        name="transposed virtual error",
        level="bicluster",
        direction="low",
        range=(0.0, 2.0),
        summary="VE with rows and columns exchanged; row offsets alone can fake it.",
        function=transposed_virtual_error,
        compute=lambda w: w.per_block(transposed_virtual_error),
        invariances=frozenset({SHIFT, SCALE, COL_SHIFT}),
        reference="Pontes, Giráldez & Aguilar-Ruiz 2010; 2015, doi:10.1371/journal.pone.0115497",
    ),
    Metric(
        key="ve_standardised",
        symbol="VE_s",
        name="virtual error, standardised pattern",
        level="bicluster",
        direction="low",
        range=(0.0, 2.0),
        summary="VE against the mean of the standardised rows, so that no row dominates the pattern.",
        function=standardised_virtual_error,
        compute=lambda w: w.per_block(standardised_virtual_error),
        invariances=frozenset({SHIFT, SCALE, ROW_SHIFT, ROW_SCALE}),
        reference=f"variant of Divina et al. 2012, {_DIVINA}",
    ),
)
