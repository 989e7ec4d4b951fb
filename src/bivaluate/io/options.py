"""What a caller may say about a file; everything is optional."""

from __future__ import annotations

from dataclasses import dataclass

from bivaluate.matrix import Matrix


@dataclass(frozen=True)
class MatrixOptions:
    """Overrides of what would be detected; None means detect."""

    delimiter: str | None = None
    decimal: str | None = None
    header: bool | None = None
    index_cols: int | None = None
    layer: str | None = None
    sheet: str | int | None = None


@dataclass(frozen=True)
class SolutionOptions:
    """The matrix a solution belongs to, and which solution of a file that holds several (from 0)."""

    X: Matrix | None = None
    item: int | None = None
