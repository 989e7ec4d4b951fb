"""Reading matrices: 100 MB of text against pandas, pyarrow and polars; h5ad and Parquet against their libraries.

python -m benchmarks.bench_reading

Wall times, the best of three in each of three fresh processes, ours and the peer's in turn; files in the page cache; a peer
that is not installed is left out. Everybody ends with the same: float64, genes in rows, row after row in memory (of
sparse cells: CSR of genes), and the labels of both sides as lists. Ours includes every check.
"""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timing import Comparison, best_of, in_fresh_process, print_table
from bivaluate import read_matrix

SHAPE = (20_000, 620)
SPARSE = (3_000, 20_000)
REPEAT, ROUNDS = 3, 3


def write_files(folder: Path) -> None:
    """Write one matrix as TSV (100 MB), h5ad and Parquet, and a sparse one."""
    import anndata
    import pandas as pd
    from scipy.sparse import csr_matrix, random_array

    rng = np.random.default_rng(0)
    values = rng.normal(size=SHAPE).round(4)
    names = [[f"{letter}{k}" for k in range(size)] for letter, size in zip("gc", SHAPE, strict=True)]
    frame = pd.DataFrame(values, *names)
    frame.to_csv(folder / "x.tsv", sep="\t", float_format="%.4f")
    frame.to_parquet(folder / "x.parquet")
    anndata.AnnData(values.T.copy(), obs=frame.T.iloc[:, :0], var=frame.iloc[:, :0]).write_h5ad(folder / "x.h5ad")
    genes, cells = (
        pd.DataFrame(index=[f"{letter}{k}" for k in range(size)]) for letter, size in zip("gc", SPARSE, strict=True)
    )
    counts = random_array(SPARSE[::-1], density=0.1, format="csr", dtype=np.float32, rng=rng)
    anndata.AnnData(csr_matrix(counts), obs=cells, var=genes).write_h5ad(folder / "sparse.h5ad")


def ours(path: str) -> float:
    """Return the time until every value is an array of float64."""
    return best_of(lambda: read_matrix(path).values, REPEAT)


def ours_sparse(path: str) -> float:
    """Return the time until all cells are compressed rows."""

    def read() -> Any:
        X = read_matrix(path)
        return X.source.rows(0, X.shape[0])

    return best_of(read, REPEAT)


def pandas_text(path: str) -> float:
    import pandas as pd

    return best_of(lambda: _of_frame(pd.read_csv(path, sep="\t", index_col=0)), REPEAT)


def pyarrow_text(path: str) -> float:
    from pyarrow import csv

    def read() -> Any:
        table = csv.read_csv(path, parse_options=csv.ParseOptions(delimiter="\t"))
        return _by_rows(table.drop([""]).to_pandas().to_numpy()), table.column(0).to_pylist(), table.column_names

    return best_of(read, REPEAT)


def polars_text(path: str) -> float:
    import polars

    def read() -> Any:
        table = polars.read_csv(path, separator="\t")
        return _by_rows(table.drop("").to_numpy()), table[""].to_list(), table.columns

    return best_of(read, REPEAT)


def anndata_file(path: str) -> float:
    import anndata

    def read() -> Any:
        adata = anndata.read_h5ad(path)
        return _by_rows(np.asarray(adata.X).T), adata.obs_names.tolist(), adata.var_names.tolist()

    return best_of(read, REPEAT)


def anndata_sparse(path: str) -> float:
    import anndata

    def read() -> Any:
        adata = anndata.read_h5ad(path)
        return adata.X.T.tocsr(), adata.obs_names.tolist(), adata.var_names.tolist()

    return best_of(read, REPEAT)


def parquet_file(path: str) -> float:
    import pandas as pd

    return best_of(lambda: _of_frame(pd.read_parquet(path)), REPEAT)


def _of_frame(frame: Any) -> Any:
    return _by_rows(frame.to_numpy(dtype=np.float64)), frame.index.tolist(), frame.columns.tolist()


def _by_rows(values: Any) -> Any:
    return np.ascontiguousarray(values)


# file, peer, function, how many times its time at most
PEERS: list[tuple[str, str, str, Callable[[str], float], float]] = [
    ("x.tsv", "pandas", "pandas' C reader", pandas_text, 1.0),
    ("x.tsv", "pyarrow", "pyarrow", pyarrow_text, 1.3),
    ("x.tsv", "polars", "polars", polars_text, 1.3),
    ("x.h5ad", "anndata", "anndata", anndata_file, 1.2),
    ("sparse.h5ad", "anndata", "anndata", anndata_sparse, 1.2),
    ("x.parquet", "pyarrow", "pandas with pyarrow", parquet_file, 1.2),
]


def main() -> list[Comparison]:
    """Time each file once with us and once with each peer, in fresh processes."""
    lines = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write_files(folder)
        for file, package, against, function, most in PEERS:
            if importlib.util.find_spec(package) is None:
                print(f"{package} is not installed: left out")
                continue
            path = str(folder / file)
            sides = (function, ours_sparse if file.startswith("sparse") else ours)
            names = [f"benchmarks.bench_reading:{side.__name__}" for side in sides]
            rounds = [[in_fresh_process(name, path) for name in names] for _ in range(ROUNDS)]
            peer, own = map(min, zip(*rounds, strict=True))
            size = f"{(folder / file).stat().st_size / 1e6:.0f} MB of {Path(file).suffix[1:]}"
            rows, cols = SPARSE if file.startswith("sparse") else SHAPE
            work = f"reading {size}, {rows}x{cols}{', 10 % stored' if file.startswith('sparse') else ''}"
            lines.append(Comparison(work, against, peer, own, 1 / most, 1, f"at most {most:g} times its time"))
    return print_table("reading", lines)


if __name__ == "__main__":
    main()
