"""Real gene-expression matrices, fetched on first use and kept for offline use afterwards."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from bivaluate._errors import ParameterError, suggest
from bivaluate.datasets.cache import Progress, cached_bytes, cached_path, fetch_archive
from bivaluate.datasets.catalogue import ALIASES, DATASETS, GROUPS, TAVAZOIE_GENES, RealDataset
from bivaluate.io import read_matrix
from bivaluate.matrix import Matrix

if TYPE_CHECKING:
    import pandas as pd

_OPTIONS: dict[str, dict[str, Any]] = {
    "yeast": {"delimiter": "\t", "header": True, "index_cols": 2},
    "tavazoie": {"delimiter": " ", "header": False, "index_cols": 0},
    "prelic": {"delimiter": "\t", "header": True, "index_cols": 1},
    "cancer": {"delimiter": "\t", "header": True, "index_cols": 1},
}

_MISSING_IN_TAVAZOIE = -1.0


def list_datasets(group: str | None = None) -> list[RealDataset]:
    """Return the real data sets with source, reference, shape and checksum; nothing is fetched.

    Parameters
    ----------
    group : {"yeast", "tavazoie", "prelic", "cancer"}, optional
        Only one group.

    Returns
    -------
    list of RealDataset
        One record each.

    Raises
    ------
    ParameterError
        If there is no such group.

    Examples
    --------
    >>> len(list_datasets()), [d.name for d in list_datasets("prelic")]
    (55, ['prelic_yeast', 'prelic_arabidopsis'])
    >>> list_datasets("tavazoie")[0].shape
    (2884, 17)
    """
    if group is not None and group not in GROUPS:
        raise ParameterError(f"there is no group {group!r}: {', '.join(GROUPS)}.{suggest(group, GROUPS)}")
    return [record for record in DATASETS.values() if group in (None, record.group)]


def find_dataset(name: str) -> RealDataset:
    """Return the record of a data set by its name, with or without its group, or by an alias.

    Examples
    --------
    >>> find_dataset("04_elutriation").name, find_dataset("14_N2_depletion").name
    ('yeast:04_elutriation', 'yeast:14_nitrogen_depletion')
    """
    for candidate in (name, f"yeast:{name}", f"cancer:{name}"):
        found = DATASETS.get(ALIASES.get(candidate, candidate))
        if found is not None:
            return found
    known = [*DATASETS, *ALIASES, *(key.partition(":")[2] for key in (*DATASETS, *ALIASES) if ":" in key)]
    raise ParameterError(
        f"there is no real data set {name!r}.{suggest(name, known)} 'bivaluate datasets' lists them all."
    )


def fetch(
    name: str = "all", *, wheel: str | os.PathLike[str] | None = None, progress: Progress | None = None
) -> list[RealDataset]:
    """Make a data set, a group or all of them available offline.

    All sets travel in one archive of 19 MB, which pip downloads once.

    Parameters
    ----------
    name : str, default="all"
        ``"all"``, a group (yeast, tavazoie, prelic, cancer) or the name of a data set.
    wheel : str or path-like, optional
        The archive, if it was downloaded by hand.
    progress : callable, optional
        Called with bytes done and bytes in all.

    Returns
    -------
    list of RealDataset
        The records of what is available now.

    Raises
    ------
    ParameterError
        If there is no such data set.
    FileError
        If the archive can neither be downloaded nor read; the message says how to get it by hand.

    Examples
    --------
    >>> fetch("yeast")  # doctest: +SKIP
    """
    wanted = list_datasets(None if name == "all" else name) if name in ("all", *GROUPS) else [find_dataset(name)]
    if wheel is not None or any(cached_bytes(member) is None for d in wanted for member in _members(d)):
        fetch_archive(wheel, progress)
    return wanted


def _members(record: RealDataset) -> list[str]:
    return [record.member] + ([TAVAZOIE_GENES[0]] if record.group == "tavazoie" else [])


def load(name: str) -> Matrix:
    """Return a real data set, genes x conditions; it is fetched on first use.

    Missing cells are NaN (they are −1 in the Tavazoie file).

    Parameters
    ----------
    name : str
        For example "yeast:04_elutriation" or "04_elutriation", "tavazoie", "prelic_yeast", "prelic_arabidopsis",
        "cancer:golub-1999-v1".

    Returns
    -------
    Matrix
        The values with the names of genes and conditions.

    Raises
    ------
    ParameterError
        If there is no such data set.
    FileError
        If it has to be fetched and cannot be.

    Examples
    --------
    >>> load("04_elutriation").shape  # doctest: +SKIP
    (935, 14)
    """
    record = find_dataset(name)
    fetch(record.name)
    matrix = read_matrix(cached_path(record.member), format="csv", decimal=".", **_OPTIONS[record.group])
    matrix = matrix.renamed(record.name)
    if record.group == "tavazoie":
        values = np.where(matrix.values == _MISSING_IN_TAVAZOIE, np.nan, matrix.values)
        genes = cached_path(TAVAZOIE_GENES[0]).read_text(encoding="ascii").split()
        matrix = Matrix(values, tuple(genes), None, record.name)
    return matrix


def load_yeast(name: str) -> pd.DataFrame:
    """Return one of the 17 yeast matrices of Jaskowiak et al. (2013) as a DataFrame, genes x conditions.

    Parameters
    ----------
    name : str
        For example "04_elutriation"; the names of the paper's figure work too ("08_25mm_DTT", "14_N2_depletion").

    Returns
    -------
    DataFrame
        One row per gene, one column per condition.

    Raises
    ------
    ParameterError
        If it is not one of the 17.

    Examples
    --------
    >>> load_yeast("04_elutriation").shape  # doctest: +SKIP
    (935, 14)
    """
    record = find_dataset(name)
    if record.group != "yeast":
        raise ParameterError(f"{name!r} is not one of the 17 yeast matrices; use load({record.name!r}).")
    return load(record.name).to_frame()
