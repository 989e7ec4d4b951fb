"""10x folders and single Matrix Market files: genes x barcodes, indices from 1, sparse."""

from __future__ import annotations

import re
from pathlib import Path
from typing import IO, Any

from bivaluate._stored import MAX_SIDE
from bivaluate.io.formats import MAX_CELLS, Format, FormatError, Matrix, Options, Source

_KINDS = "(coordinate|array) (real|integer|pattern) (general|symmetric|skew-symmetric)"
_BANNER = re.compile(f"(?i)%%MatrixMarket matrix {_KINDS}")


def _read(source: Source, options: Options) -> Matrix:
    """Read the matrix and, in a folder, the names of features and barcodes."""
    if not source.is_folder:
        return Matrix(_market(source), name=source.stem)
    files = source.listed()
    matrix = next((p for p in files if re.search(r"matrix\.mtx(\.gz)?$", p.name)), None)
    if matrix is None:
        raise FormatError(f"{source.name} is a folder without matrix.mtx or matrix.mtx.gz; a 10x folder has one.")
    values = _market(Source(matrix))
    features = _names(files, r"(features|genes)\.tsv(\.gz)?$")
    barcodes = _names(files, r"barcodes\.tsv(\.gz)?$")
    for n, names, what in zip(values.shape, (features, barcodes), ("features", "barcodes"), strict=True):
        if names is not None and len(names) != n:
            shape = f"{values.shape[0]} x {values.shape[1]}"
            raise source.fault(f"{matrix.name} is {shape}, but there are {len(names)} {what}.")
    return Matrix(values, features, barcodes, source.path.name or "X")


def _names(files: list[Path], pattern: str) -> tuple[str, ...] | None:
    found = [path for path in files if re.search(pattern, path.name)]
    return tuple(line.split("\t")[0].strip() for _, line in Source(found[0]).filled_lines()) if found else None


def _market(source: Source) -> Any:
    """Return a matrix, sparse where it is given by coordinates."""
    from scipy.io import mminfo, mmread

    banner = source.head_text.split("\n", 1)[0]
    if not _BANNER.fullmatch(" ".join(banner.split())):
        needed = "'%%MatrixMarket matrix coordinate real general' (or integer, pattern, array, symmetric)"
        raise source.fault(f"{needed} is needed, found {banner[:80]!r}.", 1)
    try:
        with source.open() as stream:
            n, m, count, *_ = mminfo(stream)
        most = (source.most_unpacked if source.gzipped else source.size) // 2  # an entry takes two bytes or more
        if not n * m > 0 or max(n, m) > MAX_SIDE or count > min(n * m, most, MAX_CELLS):
            raise source.fault(f"{n} x {m} cells with {count} entries cannot be read from a file of this size.")
        with source.open() as stream:
            cells = mmread(_AsReal(stream, banner))
    except ValueError as error:
        if isinstance(error, FormatError):
            raise
        number, _, said = str(error).removeprefix("Line ").partition(": ")
        raise (source.fault(said, int(number)) if number.isdigit() else source.damaged(error)) from None
    return cells.tocsr() if hasattr(cells, "tocsr") else cells


class _AsReal:
    """A file whose numbers are read as real ones: of what it calls integers, fractions would be cut off."""

    def __init__(self, stream: IO[bytes], banner: str) -> None:
        stream.readline()
        self._first, self._stream = re.sub("(?i)integer", "real", banner).encode() + b"\n", stream

    def read(self, size: int = -1) -> bytes:
        first, self._first = self._first, b""
        return first or self._stream.read(size)


def _detects(source: Source) -> bool:
    return source.head.startswith(b"%%MatrixMarket")


_NOTE = "the folder holds `matrix.mtx(.gz)`, `features.tsv` or `genes.tsv`, `barcodes.tsv`; labels are feature ids and barcodes"
_NAMED = ("10x", "10x folder, Matrix Market .mtx", (".mtx",))
FORMAT = Format(*_NAMED, _detects, _read, note=_NOTE, folder=lambda _: True, rank=8)
