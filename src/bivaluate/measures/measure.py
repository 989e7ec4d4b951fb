"""The record every metric has; the registry collects them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bivaluate.measures.workspace import Workspace

SHIFT, SCALE = "shift", "scale"
ROW_SHIFT, ROW_SCALE = "row_shift", "row_scale"
COL_SHIFT, COL_SCALE = "col_shift", "col_scale"
MEMBERSHIPS_ALONE = frozenset({SHIFT, SCALE, ROW_SHIFT, ROW_SCALE, COL_SHIFT, COL_SCALE})


@dataclass(frozen=True)
class Metric:
    """What is known about one metric.

    Parameters
    ----------
    key
        Name in tables and on the command line.
    symbol
        How papers write it.
    name
        Its name in words.
    level
        ``"bicluster"`` (one value each) or ``"solution"`` (one value).
    direction
        ``"low"``, ``"high"`` or ``"none"``: which values are better.
    range
        Smallest and largest value possible.
    summary
        One plain sentence.
    function
        The public function.
    compute
        How :func:`bivaluate.evaluate` gets the value from a workspace.
    invariances
        Changes of X that leave the value alone.
    reference
        Where it was published.
    default
        Whether it is computed when no metrics are named.
    """

    key: str
    symbol: str
    name: str
    level: str
    direction: str
    range: tuple[float, float]
    summary: str
    function: Callable[..., Any]
    compute: Callable[[Workspace], NDArray[np.float64] | float]
    invariances: frozenset[str] = frozenset()
    reference: str = ""
    default: bool = False

    @property
    def of_memberships(self) -> bool:
        """Whether the value depends on who is a member alone, not on the cells."""
        return self.invariances >= MEMBERSHIPS_ALONE
