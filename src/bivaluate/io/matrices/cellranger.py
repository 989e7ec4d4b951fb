"""CellRanger's .h5, of version 2 (a group per genome) and 3 (``matrix``): genes x cells, sparse, stored by cells."""

from typing import Any

from bivaluate._stored import Store, sparse_source
from bivaluate.io.formats import LAYER, Advice, Format, Matrix, Options, ParameterError, Source, check_held, first_few
from bivaluate.io.matrices import _hdf5 as hdf5


def _read(source: Source, options: Options) -> Matrix:
    """Read the counts; `layer` names the genome where a file of version 2 holds several."""
    store = Store(source.path, "hdf5")
    group = _chosen(store.root, options.layer, source.name)
    shape = [int(n) for n in hdf5.member(group, "shape", source.name)[:]]
    if len(shape) != 2:
        raise source.fault(f"{group.name}/shape holds {len(shape)} numbers; two are needed.")
    for part in ("data", "indices", "indptr"):
        hdf5.member(group, part, source.name)
    cells = sparse_source(store, group.name.strip("/"), (shape[0], shape[1]), False, False)
    where = hdf5.member(group, "features", source.name) if "features" in group else group
    key = "id" if "features" in group else "genes"
    genes = hdf5.strings(hdf5.member(where, key, source.name), source.name) if key in where else None
    barcodes = hdf5.strings(hdf5.member(group, "barcodes", source.name), source.name)
    if (len(barcodes), len(genes or range(shape[0]))) != (shape[1], shape[0]):
        found = f"{len(genes or ())} genes and {len(barcodes)} barcodes"
        raise source.fault(f"the matrix is {shape[0]} x {shape[1]}, but there are {found}.")
    return Matrix(cells, genes, barcodes, source.stem)


def _chosen(file: Any, genome: str | None, name: str) -> Any:
    known = sorted(key for key, held in hdf5.groups(file).items() if "indptr" in held)
    if not known:
        raise ParameterError(f"{name} holds no matrix of CellRanger (a group with data, indices and indptr).")
    if genome is None and len(known) > 1:
        found = f"{name} holds {len(known)} genomes: {first_few(known)}. Choose one with "
        raise ParameterError(Advice(found, LAYER, "."))
    check_held(name, "genome", genome or known[0], known)
    return hdf5.member(file, genome or known[0], name)


_NOTE = "genes x cells, sparse; labels are gene ids and barcodes; `layer=` names one of several genomes"
_NAMED = ("cellranger", "CellRanger .h5, versions 2 and 3", (".h5",), hdf5.detector("cellranger"), _read)
FORMAT = Format(*_NAMED, options=("layer",), needs="h5py", note=_NOTE)
