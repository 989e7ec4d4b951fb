"""MuData's .h5mu: several AnnData objects of the same cells, one a modality, each read as genes x cells."""

from __future__ import annotations

from typing import Any

from bivaluate._errors import ParameterError, suggest
from bivaluate._text import first_few
from bivaluate.io.formats import Format, Options
from bivaluate.io.matrices import _hdf5 as hdf5
from bivaluate.io.matrices._stored import Store
from bivaluate.io.matrices.h5ad import read_layout
from bivaluate.io.source import Source
from bivaluate.matrix import Matrix


def _read(source: Source, options: Options) -> Matrix:
    """Read the matrix of one modality."""
    store = Store(source.path, "hdf5")
    with hdf5.guarded(source):
        return read_modality(store, source, options)


def read_modality(store: Store, source: Source, options: Options) -> Matrix:
    """Read the modality asked for; one that is alone need not be named."""
    modality = _chosen(hdf5.member(store.root, "mod", source.name), options.modality, source.name)
    return read_layout(store, source, options.layer, f"mod/{modality}").renamed(f"{source.stem} {modality}")


def _chosen(group: Any, modality: str | None, name: str) -> str:
    known = sorted(group)
    if modality is None and len(known) == 1:
        return str(known[0])
    if modality is None:
        raise ParameterError(f"{name} holds {len(known)} modalities: {first_few(known)}. Choose one with modality=.")
    if modality not in known:
        raise ParameterError(
            f"{name} has no modality {modality!r}; it has {first_few(known)}.{suggest(modality, known)}"
        )
    return modality


_NOTE = "`modality=` (`--modality`) names one; read as .h5ad is, `layer=` too"
FORMAT = Format(
    *("mudata", "MuData .h5mu", (".h5mu",), hdf5.detector("mudata"), _read),
    options=("layer", "modality"),
    needs="h5py",
    note=_NOTE,
)
