"""Loadings of a factor or topic model, as ``np.savez`` keeps them: W (rows x K) and H (K x columns)."""

from typing import Any

from bivaluate._factors import DEFAULT_RULE
from bivaluate.io.formats import Document, Format, Options, Source
from bivaluate.io.matrices.numpy_files import read_arrays
from bivaluate.solution import Biclustering, as_document

_ROWS, _COLS = "W", ("H", "components", "components_")


def _detects(source: Source) -> bool:
    """By the names of the arrays in the archive: the two, and no others."""
    names = source.array_names()
    return len(names) == 2 and _ROWS in names and not names.isdisjoint(_COLS)


def _read(source: Source, options: Options) -> Document:
    """Read the loadings and apply the rule."""
    arrays = read_arrays(source, (_ROWS, *_COLS))
    cols = [name for name in _COLS if name in arrays]
    if _ROWS not in arrays or not cols:
        raise source.fault("the arrays 'W' and 'H' are needed: np.savez(path, W=W, H=model.components_).")
    return factor_document(arrays[_ROWS], arrays[cols[0]], options)


def factor_document(W: Any, H: Any, options: Options, **info: str) -> Document:
    """Return the biclusters of two factors by the rule asked for."""
    return as_document(Biclustering.from_factors(W, H, rule=options.rule or DEFAULT_RULE, info=info))


_NAME = "NumPy .npz with the factors W and H"
_NOTE = "`np.savez(path, W=W, H=model.components_)`, n x K and K x m; `rule=` (`--rule`) says which members belong"
FORMAT = Format("factors", _NAME, (".npz",), _detects, _read, options=("rule",), note=_NOTE)
