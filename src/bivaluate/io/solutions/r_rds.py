"""R Biclust objects in .rds, through the ``rdata`` parser; no R is needed, nothing is run."""

from typing import Any

import numpy as np

from bivaluate._types import Flags
from bivaluate.io.formats import MAX_CELLS, Document, Format, FormatError, Options, Source

FREE_NUMBERS = 1 << 20  # of a sequence, whatever the size of the file
_BZIP2, _XZ, _GZIP = b"BZh", b"\xfd7zXZ\x00", b"\x1f\x8b"
_XZ_MEMORY = 1 << 27  # xz -9, the most R uses, takes half of it
_BEGINNINGS = (b"X\n\x00\x00\x00\x02", b"X\n\x00\x00\x00\x03")  # of R's binary serialisation


def _read(source: Source, options: Options) -> Document:
    """Read the slots RowxNumber and NumberxCol."""
    slots = _slots(source)
    if "Number" in slots and np.array_equal(slots["Number"].value, [0]):  # the masks are one NA then
        return Document([], "index")
    rows, cols = _mask(slots, "RowxNumber", source).T, _mask(slots, "NumberxCol", source)
    if len(rows) != len(cols):
        raise source.fault(f"RowxNumber has {len(rows)} biclusters and NumberxCol has {len(cols)}.")
    members = [(np.flatnonzero(r).tolist(), np.flatnonzero(c).tolist()) for r, c in zip(rows, cols, strict=True)]
    return Document(members, "index", (rows.shape[1], cols.shape[1]))


def _slots(source: Source) -> dict[str, Any]:
    import warnings

    from rdata import parser

    data = source.all_bytes()
    if not data:
        raise FormatError(f"{source.name} is empty.")
    data = _unpacked(data, source)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = {key: _bounded(make, len(data)) for key, make in parser.DEFAULT_ALTREP_MAP.items()}
        node = parser.parse_data(data, extension=".rds", altrep_constructor_dict=made).object.attributes
    slots = {}
    while node is not None and isinstance(node.value, tuple | list) and len(node.value) == 2:
        slots[_text(node.tag)], node = node.value[0], node.value[1]
    return slots


def _unpacked(data: bytes, source: Source) -> bytes:
    """Return what R packed with bzip2 or xz, within the limits of other packed files."""
    import bz2
    import lzma

    if data.startswith((_BZIP2, _XZ)):
        packing = bz2.BZ2Decompressor() if data.startswith(_BZIP2) else lzma.LZMADecompressor(memlimit=_XZ_MEMORY)
        try:
            data = packing.decompress(data, source.most_unpacked + 1)
        except (lzma.LZMAError, OSError, ValueError) as error:
            raise source.damaged(error) from None
        source.check_unpacked(len(data))
    if data.startswith((_BZIP2, _XZ, _GZIP)):
        raise source.fault("packed twice; save it again with saveRDS(result, file).")
    return data


def _bounded(make: Any, size: int) -> Any:
    """Return what makes an object that R stores in short, for sequences that are not far longer than the file."""

    def made(state: Any) -> Any:
        numbers = np.asarray(state.value)
        if numbers.dtype.kind == "f" and numbers.size == 3 and not numbers[0] <= max(FREE_NUMBERS, size):
            raise ValueError(f"a sequence of {numbers[0]:.0f} numbers, and {size} bytes")
        return make(state)

    return made


def _text(node: Any) -> str:
    while node is not None and not isinstance(node, (bytes, str)):
        node = getattr(node, "referenced_object", None) or getattr(node, "value", None)
    return node.decode("latin-1") if isinstance(node, bytes) else str(node)


def _mask(slots: dict[str, Any], slot: str, source: Source) -> Flags:
    node = slots.get(slot)
    if node is None:
        raise source.fault(f"no slot {slot}; an object of R's class Biclust is needed (saveRDS(result, file)).")
    try:
        values = np.asarray(node.value)
        attribute = node.attributes
        while _text(attribute.tag) != "dim":
            attribute = attribute.value[1]
        n, m = (int(x) for x in np.asarray(attribute.value[0].value))
        if n < 1 or m < 1 or n * m > MAX_CELLS or values.dtype.kind not in "iufb":
            raise ValueError
        return np.asarray(values.reshape(m, n).T == 1)
    except (AttributeError, TypeError, ValueError, IndexError, OverflowError):
        raise source.fault(f"slot {slot} is not a logical matrix with dimensions.") from None


def _detects(source: Source) -> bool:
    return source.suffix == ".rds" or source.head.startswith(_BEGINNINGS)


_NOTE = "saved with `saveRDS`; no R needed"
FORMAT = Format("rds", "R Biclust object (.rds)", (".rds",), _detects, _read, needs="rdata", note=_NOTE)
