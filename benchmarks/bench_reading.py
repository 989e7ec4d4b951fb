"""Reading matrices: 100 MB of text against pandas, pyarrow and polars; h5ad and Parquet against their libraries.

python -m benchmarks.bench_reading

Wall times, best of three, files in the page cache; a peer that is not installed is left out. Everybody ends with the same
array: float64, genes in rows, row after row in memory. Ours includes every check, and the trial of binary files in a process of their own.
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
REPEAT = 3


def write_files(folder: Path) -> None:
    """Write one matrix as TSV (100 MB), h5ad and Parquet."""
    import anndata
    import pandas as pd

    rng = np.random.default_rng(0)
    values = rng.normal(size=SHAPE).round(4)
    names = [[f"{letter}{k}" for k in range(size)] for letter, size in zip("gc", SHAPE, strict=True)]
    frame = pd.DataFrame(values, *names)
    frame.to_csv(folder / "x.tsv", sep="\t", float_format="%.4f")
    frame.to_parquet(folder / "x.parquet")
    anndata.AnnData(values.T.copy(), obs=frame.T.iloc[:, :0], var=frame.iloc[:, :0]).write_h5ad(folder / "x.h5ad")


def ours(path: str) -> float:
    """Return the time until every value is an array of float64."""
    return best_of(lambda: read_matrix(path).values, REPEAT)


def pandas_text(path: str) -> float:
    import pandas as pd

    return best_of(lambda: _by_rows(pd.read_csv(path, sep="\t", index_col=0).to_numpy(dtype=np.float64)), REPEAT)


def pyarrow_text(path: str) -> float:
    from pyarrow import csv

    options = csv.ParseOptions(delimiter="\t")
    return best_of(lambda: _values(csv.read_csv(path, parse_options=options).to_pandas()), REPEAT)


def polars_text(path: str) -> float:
    import polars

    return best_of(lambda: _by_rows(polars.read_csv(path, separator="\t").drop("").to_numpy()), REPEAT)


def anndata_file(path: str) -> float:
    import anndata

    return best_of(lambda: _by_rows(np.asarray(anndata.read_h5ad(path).X).T), REPEAT)


def parquet_file(path: str) -> float:
    import pandas as pd

    return best_of(lambda: _by_rows(pd.read_parquet(path).to_numpy(dtype=np.float64)), REPEAT)


def _values(frame: Any) -> Any:
    return _by_rows(frame.iloc[:, 1:].to_numpy(dtype=np.float64))


def _by_rows(values: Any) -> Any:
    return np.ascontiguousarray(values)


# file, peer, function, how many times its time at most
PEERS: list[tuple[str, str, str, Callable[[str], float], float]] = [
    ("x.tsv", "pandas", "pandas' C reader", pandas_text, 1.0),
    ("x.tsv", "pyarrow", "pyarrow", pyarrow_text, 1.3),
    ("x.tsv", "polars", "polars", polars_text, 1.3),
    ("x.h5ad", "anndata", "anndata", anndata_file, 1.2),
    ("x.parquet", "pyarrow", "pandas with pyarrow", parquet_file, 1.2),
]


def main() -> list[Comparison]:
    """Time each file once with us and once with each peer, in fresh processes."""
    lines = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write_files(folder)
        taken: dict[str, float] = {}
        for file, package, against, function, most in PEERS:
            if importlib.util.find_spec(package) is None:
                print(f"{package} is not installed: left out")
                continue
            path = str(folder / file)
            if file not in taken:
                taken[file] = in_fresh_process("benchmarks.bench_reading:ours", path)
            peer = in_fresh_process(f"benchmarks.bench_reading:{function.__name__}", path)
            size = f"{(folder / file).stat().st_size / 1e6:.0f} MB of {Path(file).suffix[1:]}"
            work = f"reading {size}, {SHAPE[0]}x{SHAPE[1]}"
            lines.append(Comparison(work, against, peer, taken[file], 1 / most, 1, f"at most {most:g} times its time"))
    return print_table("reading", lines)


if __name__ == "__main__":
    main()
