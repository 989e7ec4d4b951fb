"""What .h5ad and .loom share: an HDF5 file opened without following links out of it, sizes checked first."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bivaluate._errors import BivaluateError, FormatError, ParameterError, suggest
from bivaluate._text import first_few, plural
from bivaluate.io.source import MAX_CELLS, Source

MAGIC = b"\x89HDF\r\n\x1a\n"
MAX_LABELS = 1 << 26


@contextmanager
def opened(source: Source) -> Iterator[Any]:
    """Open an HDF5 file for reading; whatever its C library refuses becomes a format error."""
    import h5py

    source.size  # noqa: B018  a missing file is told apart from a damaged one
    try:
        with h5py.File(source.path, "r") as file:
            yield file
    except (OSError, KeyError, RuntimeError, TypeError, ValueError, OverflowError, SystemError) as error:
        if isinstance(error, BivaluateError):
            raise
        raise source.damaged("the HDF5 file", error) from None


def layer_of(file: Any, layer: str, name: str) -> Any:
    """Return a layer by its name."""
    layers = list(file["layers"]) if "layers" in file else []
    if layer not in layers:
        raise ParameterError(f"{name} has no layer {layer!r}; layers: {first_few(layers)}.{suggest(layer, layers)}")
    return member(file["layers"], layer, name)


def member(group: Any, key: str, name: str) -> Any:
    """Return a member that lies in this very file; links and external storage are refused."""
    import h5py

    where = f"{name}: {group.name.rstrip('/')}/{key}"
    if key not in group:
        raise FormatError(f"{where} is missing.")
    if not isinstance(group.get(key, getlink=True), h5py.HardLink):
        raise FormatError(f"{where} is a link; data must lie in the file itself.")
    found = group[key]
    if isinstance(found, h5py.Dataset) and (found.external or found.is_virtual):
        raise FormatError(f"{where} is stored in another file; data must lie in the file itself.")
    return found


def is_group(node: Any) -> bool:
    """Whether a node is a group and not a dataset."""
    return hasattr(node, "keys")


def dense(node: Any, name: str) -> NDArray[np.float64]:
    """Read a 2-D numeric dataset as float64."""
    check_cells(node.shape, f"{name}: {node.name}")
    if node.dtype.kind not in "fiub":
        raise FormatError(f"{name}: {node.name} holds {node.dtype}; real numbers are needed.")
    return np.asarray(node[()], dtype=np.float64)


def check_cells(shape: Any, where: str) -> None:
    """Raise unless a shape is 2-D and small enough to hold."""
    if len(shape) != 2:
        raise FormatError(f"{where} has {plural(len(shape), 'dimension')}; a 2-D matrix is needed.")
    if int(shape[0]) * int(shape[1]) > MAX_CELLS:
        raise FormatError(f"{where} has {shape[0]} x {shape[1]} cells; at most {MAX_CELLS} can be read.")


def strings(node: Any, name: str) -> tuple[str, ...]:
    """Read a 1-D dataset of labels."""
    if is_group(node) or len(node.shape) != 1 or node.shape[0] > MAX_LABELS:
        raise FormatError(f"{name}: {node.name} must be a list of labels.")
    values = node[()]
    return tuple(v.decode("utf-8", "replace") if isinstance(v, bytes) else str(v) for v in values.tolist())
