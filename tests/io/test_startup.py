"""Reading a small table and a JSON solution wakes no heavy library and no other format."""

import subprocess
import sys

import numpy as np
import pytest

from bivaluate import write_matrix

PROGRAM = """
import sys
from bivaluate import read_matrix, read_solution
X = read_matrix("m.csv")
assert len(read_solution("s.json", X)) == len(read_solution("s.csv", X)) == 1
heavy = {"pandas", "scipy", "sklearn", "numba", "pyarrow", "h5py", "zipfile", "gzip", "subprocess"}
rooms = {"matrices": ("h5ad", "gct", "excel"), "solutions": ("qubic", "r_text", "bicat")}
formats = {f"bivaluate.io.{room}.{name}" for room, names in rooms.items() for name in names}
print(sorted((heavy | formats) & set(sys.modules)))
"""


def test_small_files_load_little(tmp_path):
    (tmp_path / "m.csv").write_text("gene,a,b\ng1,1,2\ng2,3,4\n")
    (tmp_path / "s.json").write_text('{"schema": 1, "shape": null, "biclusters": [{"rows": [0], "cols": [1]}]}')
    (tmp_path / "s.csv").write_text("bicluster,rows,cols\nB1,g1,b\n")
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.extra("parquet")
def test_parquet_is_read_without_pandas(tmp_path):
    X = np.ones((3, 2))
    X[1, 0] = np.nan
    write_matrix(X, tmp_path / "x.parquet")
    code = (
        "import sys; from bivaluate import read_matrix; read_matrix('x.parquet').values; print('pandas' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
