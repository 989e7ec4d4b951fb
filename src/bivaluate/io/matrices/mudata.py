"""MuData's .h5mu: several AnnData objects of the same cells, one a modality, each read as genes x cells."""

from bivaluate._anndata import stacked
from bivaluate._stored import Store
from bivaluate.io.formats import Advice, Format, Matrix, Option, Options, ParameterError, Source, check_held, first_few
from bivaluate.io.matrices import _hdf5 as hdf5
from bivaluate.io.matrices.h5ad import read_layout

ALL = "all"


def _read(source: Source, options: Options) -> Matrix:
    """Read the matrix of one modality."""
    return read_modality(Store(source.path, "hdf5"), source, options)


def read_modality(store: Store, source: Source, options: Options) -> Matrix:
    """Read the modality asked for, which need not be named if it is alone, or all of them stacked by rows."""
    known = sorted(hdf5.member(store.root, "mod", source.name))
    if options.modality == ALL and ALL not in known:
        read = {key: read_layout(store, source, options.layer, f"mod/{key}") for key in known}
        cells = {key: part.to_scipy() if part.sparse else part.values for key, part in read.items()}
        labelled = {key: (cells[key], _labels(part, 0), _labels(part, 1)) for key, part in read.items()}
        return Matrix(*stacked(labelled, source.name), source.stem, nouns=("features", "cells"))
    modality = _chosen(known, options.modality, source.name)
    return read_layout(store, source, options.layer, f"mod/{modality}").renamed(f"{source.stem} {modality}")


def _labels(part: Matrix, axis: int) -> tuple[str, ...]:
    """Return the labels of rows or columns, their numbers where there are none."""
    return (part.row_labels, part.col_labels)[axis] or tuple(map(str, range(part.shape[axis])))


def _chosen(known: list[str], modality: str | None, name: str) -> str:
    if modality is None and len(known) == 1:
        return str(known[0])
    if modality is None:
        one, both = Option("modality", known[0]), Option("modality", ALL)
        said = f"{name} holds {len(known)} modalities: {first_few(known)}. Choose one with "
        raise ParameterError(Advice(said, one, ", or all of them, stacked by rows, with ", both, "."))
    check_held(name, "modality", modality, known)
    return modality


_NOTE = "`modality=` (`--modality`) names one, or `all` for all of them stacked by rows; read as .h5ad is, `layer=` too"
_NAMED, _OPTIONS = ("mudata", "MuData .h5mu", (".h5mu",), hdf5.detector("mudata"), _read), ("layer", "modality")
FORMAT = Format(*_NAMED, options=_OPTIONS, needs="h5py", note=_NOTE)
