"""What a caller may say about a matrix file; everything is optional."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MatrixOptions:
    """Overrides of what would be detected; None means detect."""

    delimiter: str | None = None
    decimal: str | None = None
    header: bool | None = None
    index_cols: int | None = None
    layer: str | None = None
    sheet: str | int | None = None
