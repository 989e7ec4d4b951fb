"""Real matrices, fetched on first use and kept for offline use afterwards."""

from pathlib import Path

from bivaluate._errors import ParameterError, suggest
from bivaluate._files import FilePath
from bivaluate._types import DataFrame
from bivaluate.datasets.cache import Progress, archive_named, archive_of, cached_path, fetch_archive, is_cached
from bivaluate.datasets.catalogue import ALIASES, DATASETS, GROUPS, ONTOLOGIES, RealDataset
from bivaluate.datasets.labelled import Labelled, read_labelled
from bivaluate.matrix import Matrix


def list_datasets(group: str | None = None) -> list[RealDataset]:
    """Return the real data sets with source, reference, shape and checksum; nothing is fetched.

    Parameters
    ----------
    group : str, optional
        Only one group: yeast, tavazoie, prelic, cancer, single-cell, functions, multilabel, ratings or text.

    Returns
    -------
    list of RealDataset
        One record each.

    Raises
    ------
    ParameterError
        If there is no such group.

    See Also
    --------
    load

    Examples
    --------
    >>> len(list_datasets()), [d.name for d in list_datasets("prelic")]
    (63, ['prelic_yeast', 'prelic_arabidopsis'])
    """
    if group is not None and group not in GROUPS:
        raise ParameterError(f"there is no group {group!r}: {', '.join(GROUPS)}.{suggest(group, GROUPS)}")
    return [record for record in DATASETS.values() if group in (None, record.group)]


def find_dataset(name: str) -> RealDataset:
    """Return the record of a data set by its name, with or without its group, or by an alias."""
    for candidate in (name, f"yeast:{name}", f"cancer:{name}"):
        found = DATASETS.get(ALIASES.get(candidate, candidate))
        if found is not None:
            return found
    known = [*DATASETS, *ALIASES, *(key.partition(":")[2] for key in (*DATASETS, *ALIASES) if ":" in key)]
    near = suggest(name, [*GROUPS, *known])
    raise ParameterError(f"there is no real data set {name!r}.{near} 'bivaluate datasets' lists them all.")


def fetch(name: str = "all", *, wheel: FilePath | None = None, progress: Progress | None = None) -> list[RealDataset]:
    """Make a data set, a group or all of them available offline.

    Parameters
    ----------
    name : str, default="all"
        ``"all"``, a group (see :func:`list_datasets`) or the name of a data set.
    wheel : str or path-like, optional
        The archive of one group, if it was downloaded by hand.
    progress : callable, optional
        Called with bytes done and bytes in all.

    Returns
    -------
    list of RealDataset
        The records of what is available now.

    Raises
    ------
    ParameterError, FileError
        If there is no such data set, or an archive can neither be downloaded nor read.

    See Also
    --------
    load, list_datasets

    Examples
    --------
    >>> fetch("yeast")  # doctest: +SKIP
    """
    wanted = list_datasets(None if name == "all" else name) if name in ("all", *GROUPS) else [find_dataset(name)]
    if wheel is not None:
        archive = archive_named(wheel)
        fetch_archive(archive, wheel, progress)
        return [record for record in wanted if archive_of(record) == archive]
    for archive in dict.fromkeys(archive_of(record) for record in wanted if not is_cached(record)):
        fetch_archive(archive, None, progress)
    return wanted


def ontology_files() -> tuple[Path, Path]:
    """Return where the annotations (GAF) and the ontology (OBO) of yeast are kept; fetch them on first use."""
    record = ONTOLOGIES["sgd"]
    if not is_cached(record):
        fetch_archive(archive_of(record))
    annotations, ontology = (cached_path(record, member) for member in record.files)
    return annotations, ontology


def load(name: str) -> Matrix:
    """Return a real data set, rows (genes, users, documents) x columns; it is fetched on first use.

    Parameters
    ----------
    name : str
        For example "yeast:04_elutriation" or "04_elutriation", "tavazoie", "prelic_yeast", "cancer:golub-1999-v1",
        "pbmc68k", "brown", "mulan_yeast", "movielens", "newsgroups", "reuters_r8".

    Returns
    -------
    Matrix
        The values, NaN where missing, with the names of rows and columns.

    Raises
    ------
    ParameterError, FileError
        If there is no such data set, or it cannot be fetched.

    See Also
    --------
    load_labelled

    Examples
    --------
    >>> load("04_elutriation").shape  # doctest: +SKIP
    (935, 14)
    """
    return load_labelled(name).matrix


def load_labelled(name: str) -> Labelled:
    """Return a real data set with what is known about its rows and columns; it is fetched on first use.

    Parameters
    ----------
    name : str
        As for :func:`load`.

    Returns
    -------
    Labelled
        The matrix, and the classes of rows and columns as masks by name; classes may overlap. Both are empty for
        the matrices of yeast, tavazoie and prelic.

    Raises
    ------
    ParameterError, FileError
        If there is no such data set, or it cannot be fetched.

    See Also
    --------
    load

    Examples
    --------
    >>> brown = load_labelled("brown")  # doctest: +SKIP
    >>> {name: int(mask.sum()) for name, mask in brown.row_classes.items()}  # doctest: +SKIP
    {'Proteas': 35, 'Resp': 30, 'Ribo': 121}
    """
    record = find_dataset(name)
    fetch(record.name)
    return read_labelled(record)


def load_yeast(name: str) -> DataFrame:
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

    See Also
    --------
    load

    Examples
    --------
    >>> load_yeast("04_elutriation").shape  # doctest: +SKIP
    (935, 14)
    """
    record = find_dataset(name)
    if record.group != "yeast":
        raise ParameterError(f"{name!r} is not one of the 17 yeast matrices; use load({record.name!r}).")
    return load(record.name).to_frame()
