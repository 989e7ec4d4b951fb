"""Other biclustering tools, each told K, for the benchmark of the coherent submatrix search.

UnPaSt (GPL) gets an environment of its own, Plaid and QUBIC come with the biclustlib wheel (GPL); all three run in
processes of their own. A tool that cannot be had is left out, and the reason is kept.
"""

from __future__ import annotations

import functools
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bivaluate.algorithms import ChengChurch, CoherentSubmatrices, LargeAverageSubmatrices, SpectralCheckerboard
from bivaluate.solution import Biclustering

Values = NDArray[np.float64]
LAS_RESTARTS = 200
TIME_LIMIT = 600


FOLDER = Path(tempfile.gettempdir()) / "bivaluate-find-peers"


@functools.lru_cache(maxsize=1)
def biclustlib() -> Path:
    """Return where the biclustlib wheel is unpacked; it is fetched once."""
    from benchmarks.peer import fetch

    done = FOLDER / "biclustlib.done"
    if not done.exists():
        FOLDER.mkdir(exist_ok=True)
        fetch(FOLDER)
        done.touch()
    return FOLDER / "peer"


@functools.lru_cache(maxsize=1)
def unpast_python() -> Path:
    """Return the interpreter of an environment with UnPaSt in it; it is made once."""
    home = FOLDER / "unpast"
    python, done = home / "bin" / "python", home / "done"
    if not done.exists():
        subprocess.run([sys.executable, "-m", "venv", home], check=True)
        wanted = ["unpast==0.1.11", "numpy<2", "setuptools<81"]
        subprocess.run([python, "-m", "pip", "install", "--quiet", *wanted], check=True)
        done.touch()
    return python


def own(make: Callable[[int], Any]) -> Callable[[Values, int], Biclustering]:
    """Return the solution of one of our estimators."""
    return lambda X, K: make(K).fit(X).solution_


def spectral_coclustering(X: Values, K: int) -> Biclustering:
    """scikit-learn's SpectralCoclustering, of values moved above 0."""
    from sklearn.cluster import SpectralCoclustering

    model = SpectralCoclustering(K, random_state=0).fit(X - X.min() + 1e-9)
    cells = [model.get_indices(k) for k in range(K)]
    return Biclustering([(r, c) for r, c in cells if len(r) and len(c)], X.shape)


def plaid(X: Values, K: int) -> Biclustering:
    """Plaid of biclustlib, with the names NumPy 2 no longer has put back."""
    script = (
        "import sys, json, warnings; warnings.simplefilter('ignore')\n"
        "import numpy as np; np.int = int\n"
        "sys.path.insert(0, sys.argv[1]); np.random.seed(0)\n"
        "from biclustlib.algorithms import Plaid\n"
        "found = Plaid(int(sys.argv[3])).run(np.load(sys.argv[2])).biclusters\n"
        "print(json.dumps([[sorted(map(int, b.rows)), sorted(map(int, b.cols))] for b in found]))\n"
    )
    import json

    with tempfile.TemporaryDirectory() as work:
        np.save(f"{work}/X.npy", X)
        result = _call([sys.executable, "-c", script, str(biclustlib()), f"{work}/X.npy", str(K)])
    return Biclustering([(r, c) for r, c in json.loads(result.splitlines()[-1]) if r and c], X.shape)


def qubic(X: Values, K: int) -> Biclustering:
    """QUBIC 1.0, the static binary in the biclustlib wheel."""
    from bivaluate.io import read_solution

    binary = biclustlib() / "biclustlib" / "algorithms" / "wrappers" / "bin" / "qubic" / "qubic"
    binary.chmod(0o755)
    with tempfile.TemporaryDirectory() as work:
        _write_table(X, Path(work) / "X.txt")
        _call([str(binary), "-i", f"{work}/X.txt", "-o", str(K)])
        return read_solution(f"{work}/X.txt.blocks", X=_named(X))


def unpast(X: Values, K: int) -> Biclustering:
    """UnPaSt 0.1.11; it is not told K: of what it returns the K largest are taken."""
    from bivaluate.io import read_solution

    with tempfile.TemporaryDirectory() as work:
        _write_table(X, Path(work) / "X.tsv")
        program = str(unpast_python().parent / "unpast")
        _call([program, "--exprs", f"{work}/X.tsv", "--out_dir", f"{work}/out", "--clustering", "Louvain"])
        files = sorted(Path(work).rglob("*biclusters*.tsv"), key=lambda path: path.stat().st_mtime)
        if not files:  # it writes none where it finds none
            return Biclustering([], X.shape)
        found = read_solution(files[-1], X=_named(X))
    largest = sorted(found, key=lambda b: -b.size)[:K]
    return Biclustering([(b.rows, b.cols) for b in largest], X.shape)


PEERS: dict[str, Callable[[Values, int], Biclustering]] = {
    "find": own(lambda _: CoherentSubmatrices(random_state=0)),
    "CCA": own(lambda K: ChengChurch(K, random_state=0)),
    "LAS": own(lambda K: LargeAverageSubmatrices(K, n_restarts=LAS_RESTARTS, two_sided=True, random_state=0)),
    "Spectral": own(lambda K: SpectralCheckerboard(K, random_state=0)),
    "SpectralCoclustering": spectral_coclustering,
    "Plaid": plaid,
    "QUBIC": qubic,
    "UnPaSt": unpast,
}


def run(name: str, X: Values, K: int) -> tuple[Biclustering | None, float, str]:
    """Return what a tool finds, its wall seconds, and the reason if it finds nothing because it cannot be run."""
    try:
        if name in ("Plaid", "QUBIC"):
            biclustlib()
        if name == "UnPaSt":
            unpast_python()
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = PEERS[name](X, K)
        return found, time.perf_counter() - start, ""
    except Exception as error:
        return None, float("nan"), f"{type(error).__name__}: {str(error)[:200]}"


def _call(command: list[str]) -> str:
    result = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT, check=False)
    if result.returncode:
        raise RuntimeError((result.stderr or result.stdout).strip()[-200:])
    return result.stdout


def _named(X: Values) -> Any:
    """Return X as a matrix whose rows are R1, R2, … and whose columns C1, C2, …"""
    from bivaluate.matrix import Matrix

    n, m = X.shape
    return Matrix(X, tuple(f"R{i + 1}" for i in range(n)), tuple(f"C{j + 1}" for j in range(m)), "X")


def _write_table(X: Values, path: Path) -> None:
    lines = ["o\t" + "\t".join(f"C{j + 1}" for j in range(X.shape[1]))]
    lines += [f"R{i + 1}\t" + "\t".join(f"{v:.6g}" for v in row) for i, row in enumerate(X)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
