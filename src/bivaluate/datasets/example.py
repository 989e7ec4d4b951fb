"""A small expression matrix and what a tool made of it, for first steps."""

from pathlib import Path

import numpy as np

from bivaluate._errors import FileError
from bivaluate._files import FilePath, make_folder, write_whole
from bivaluate.matrix import Matrix
from bivaluate.solution import Biclustering

_GENES, _CONDITIONS = 200, 30
_SEED = 2026


def load_example() -> tuple[Matrix, Biclustering]:
    """Return a matrix of 200 genes and 30 conditions, and a solution of it with five biclusters.

    Three of the five are real: genes that go up together (B1), genes that follow one profile (B2), and genes that
    follow a profile each to its own degree (B3). B4 repeats most of B2, and B5 is noise: a good tool for judging
    biclusters says so.

    Returns
    -------
    matrix : Matrix
        With names of genes and conditions.
    solution : Biclustering
        The five biclusters.

    See Also
    --------
    write_example

    Examples
    --------
    >>> X, solution = load_example()
    >>> X.shape, len(solution)
    ((200, 30), 5)
    """
    rng = np.random.default_rng(_SEED)
    values = rng.normal(size=(_GENES, _CONDITIONS))
    genes, conditions = rng.permutation(_GENES), rng.permutation(_CONDITIONS)
    up, profile = (genes[:30], conditions[:9]), (genes[30:65], conditions[9:20])
    scaled = (genes[65:90], conditions[18:])
    values[np.ix_(*up)] += 3.0
    values[np.ix_(*profile)] = 0.3 * values[np.ix_(*profile)] + 1.5 * rng.normal(size=11)
    degree = rng.uniform(0.5, 3.0, size=(25, 1))
    values[np.ix_(*scaled)] = 0.3 * values[np.ix_(*scaled)] + degree * rng.normal(size=12)
    again = (profile[0][:33], profile[1])
    noise = (genes[120:138], conditions[[0, 5, 9, 13, 17, 20, 26]])
    rows, cols = (f"gene{i + 1:03d}" for i in range(_GENES)), (f"condition{j + 1:02d}" for j in range(_CONDITIONS))
    matrix = Matrix(values.round(4), tuple(rows), tuple(cols), "expression", nouns=("genes", "conditions"))
    return matrix, Biclustering([up, profile, scaled, again, noise], matrix.shape, info={"name": "solution"})


def write_example(folder: FilePath = ".") -> list[Path]:
    """Write the example as ``expression.csv``, ``solution.json`` and, as R biclust would, ``biclust.txt``.

    Beside them gene sets, ``sets.gmt``: two that biclusters have in common, and one that they have not; and what is
    known about the conditions, ``samples.csv``: those of B1 were treated.

    Parameters
    ----------
    folder : str or path-like, default="."
        Where to write; created if it does not exist.

    Returns
    -------
    list of Path
        The files written.

    Raises
    ------
    FileError
        If one of them exists already, or cannot be written.

    See Also
    --------
    load_example

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in write_example(folder)]
    ['expression.csv', 'solution.json', 'biclust.txt', 'sets.gmt', 'samples.csv']
    """
    from bivaluate.io import write_matrix, write_solution

    matrix, solution = load_example()
    target = Path(folder)
    paths = [target / name for name in ("expression.csv", "solution.json", "biclust.txt", "sets.gmt", "samples.csv")]
    there = [path.name for path in paths if path.exists()]
    if there:
        raise FileError(f"{target} has {', '.join(there)} already, which would be overwritten: choose another folder.")
    make_folder(target)
    write_matrix(matrix, paths[0])
    write_solution(solution, paths[1], X=matrix)
    write_solution(solution.select([1, 2, 3]), paths[2], X=matrix)
    sets = {"up together": solution[0].rows[:15], "one profile": solution[1].rows[::2]}
    sets["elsewhere"] = np.arange(140, 160)
    lines = ["\t".join([name, "made up", *map(matrix.row_label, rows.tolist())]) for name, rows in sets.items()]
    write_whole(paths[3], "\n".join([*lines, ""]))
    known = [
        f"{matrix.col_label(j)},{'treated' if j in solution[0].cols else 'control'},{j % 3}" for j in range(_CONDITIONS)
    ]
    write_whole(paths[4], "\n".join(["condition,treatment,batch", *known, ""]))
    return paths
