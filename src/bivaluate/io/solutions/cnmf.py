"""A run folder of cNMF: for every K a table of usages (cells x K) and one of gene spectra (K x genes)."""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bivaluate._factors import DEFAULT_RULE, members_of_factors
from bivaluate._text import Advice, Option, first_few, plural
from bivaluate.io.formats import Document, Format, FormatError, Matrix, Options, ParameterError, Source
from bivaluate.io.matrices import read_matrix
from bivaluate.io.members import labelled
from bivaluate.solution import Biclustering, members_of_masks

_USAGES = re.compile(r"(?P<run>.+)\.usages\.k_(?P<k>\d+)(?P<dt>\.dt_[\d_]+)?\.consensus\.txt")
_SPECTRA = ("gene_spectra_score", "gene_spectra_tpm")
_TOP = 50  # genes that a program is compared by


@dataclass(frozen=True)
class _Fit:
    """The two files of one K."""

    usages: Path
    run: str
    k: int
    threshold: str

    @property
    def name(self) -> str:
        """What the solution is called."""
        return f"{self.run} K {self.k}" + (f", dt {self.threshold[4:].replace('_', '.')}" if self.threshold else "")

    def spectra(self) -> Path | None:
        """The table of spectra that goes with the usages, scores before TPM."""
        candidates = (self.usages.with_name(f"{self.run}.{s}.k_{self.k}{self.threshold}.txt") for s in _SPECTRA)
        return next((path for path in candidates if path.is_file()), None)


def _fits(source: Source) -> list[_Fit]:
    """Return the fits in the folder of a run, or in the folders of the runs below an output folder, K by K."""
    fits: list[_Fit] = []
    for paths in (source.listed(), sorted(source.path.glob("*/*.usages.k_*.consensus.txt"))):
        found = [(path, _USAGES.fullmatch(path.name)) for path in paths if not fits]
        fits += [_Fit(path, m["run"], int(m["k"]), m["dt"] or "") for path, m in found if m]
    return sorted(fits, key=lambda fit: (fit.run, fit.k, fit.threshold))


def _items(source: Source) -> list[str]:
    """Return what the solutions of the folder are called, K by K."""
    return [fit.name for fit in _fits(source)]


def _read(source: Source, options: Options) -> Document:
    """Read the factors of one K and apply the rule."""
    fits = _fits(source)
    if not fits:
        raise source.fault("a folder without cNMF's tables NAME.usages.k_10.dt_0_5.consensus.txt.")
    if options.item is None and len(fits) > 1:
        listed = first_few([f"{i} ({fit.name})" for i, fit in enumerate(fits)])
        which = f"{source.name} holds {len(fits)} solutions: {listed}. Choose one, for example with "
        raise ParameterError(Advice(which, Option("item", 0), "."))
    item = options.item or 0
    if not 0 <= item < len(fits):
        raise ParameterError(f"item is {item}; {source.name} holds {plural(len(fits), 'solution')}, counted from 0.")
    fit = fits[item]
    spectra_path = fit.spectra()
    if spectra_path is None:
        needed = " or ".join(f"{fit.run}.{s}.k_{fit.k}{fit.threshold}.txt" for s in _SPECTRA)
        raise source.fault(f"{fit.usages.name} has no spectra beside it; {needed} is needed.")
    usages, spectra = (_table(path) for path in (fit.usages, spectra_path))
    if usages.shape[1] != spectra.shape[0]:
        left, right = plural(usages.shape[1], "factor"), spectra.shape[0]
        raise source.fault(f"{fit.usages.name} has {left}, {spectra_path.name} has {right}.")
    return _document(usages, spectra, fit, spectra_path.name, source, options)


def read_programs(path: Path, k: int | None = None) -> tuple[str, Biclustering, tuple[str, ...]]:
    """Return the programs of one K of a cNMF folder: their name, the largest spectra scores of each, and all genes."""
    fits = [fit for fit in _fits(Source(path)) if k in (None, fit.k)]
    if len(fits) != 1:
        found = first_few([fit.name for fit in _fits(Source(path))]) or "nothing"
        raise ParameterError(Advice(f"{path} holds {found}; one K is needed: choose it with ", Option("k"), "."))
    spectra_path = fits[0].spectra()
    if spectra_path is None or _SPECTRA[0] not in spectra_path.name:
        raise FormatError(f"{path}: {fits[0].name} has no {_SPECTRA[0]}, by which programs are compared.")
    spectra = _table(spectra_path)
    scores = np.where(np.isfinite(spectra.values), spectra.values, -np.inf)
    rows = np.sort(np.argsort(-scores, axis=1, kind="stable")[:, :_TOP], axis=1)
    pairs = [(own, [factor]) for factor, own in enumerate(rows)]
    info = {"algorithm": "cNMF", "k": fits[0].k}
    return fits[0].name, Biclustering(pairs, spectra.shape[::-1], info=info), spectra.col_labels or ()


def _table(path: Path) -> Matrix:
    return read_matrix(path, format="csv", delimiter="\t", header=True, index_cols=1)


def _document(usages: Matrix, spectra: Matrix, fit: _Fit, used: str, source: Source, options: Options) -> Document:
    """Return genes x cells, or cells x genes where the rows of the matrix are cells."""
    values = np.where(np.isfinite(usages.values), usages.values, 0.0)
    totals = values.sum(axis=1, keepdims=True)
    shares = np.divide(values, totals, out=np.zeros_like(values), where=totals > 0)
    rule = options.rule or DEFAULT_RULE
    loadings = np.where(np.isinf(spectra.values), np.nan, spectra.values)
    gene_masks, cell_masks = members_of_factors(loadings.T, shares.T, rule)
    genes, cells = spectra.col_labels, usages.row_labels
    if genes is None or cells is None:
        raise FormatError(f"{source.name}: {fit.usages.name} or {used} has no labels.")
    sides = [(gene_masks, genes), (cell_masks, cells)]
    if options.X is not None and set(cells[:100]) & set(options.X.row_labels or ()):
        sides.reverse()
    (row_masks, rows), (col_masks, cols) = sides
    members, names = members_of_masks(row_masks, col_masks, usages.col_labels, f"{source.name}, {fit.name}: ")
    info = {"algorithm": "cNMF", "name": fit.name, "k": fit.k, "rule": rule, "spectra": used}
    return Document(labelled(members, rows, cols), "label", info=info, names=names)


_NOTE = "every K it holds; `item=` (`--item`) chooses one, `rule=` (`--rule`) says which members belong"
_NAMED, _OPTIONS = ("cnmf", "cNMF run folder", (), None, _read), ("item", "rule")
FORMAT = Format(*_NAMED, options=_OPTIONS, note=_NOTE, folder=lambda source: bool(_fits(source)), items=_items)
