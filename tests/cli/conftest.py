"""Commands are run as a newcomer would: `python -m bivaluate …` in a folder of its own."""

import os
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest

from bivaluate import Biclustering


@dataclass
class Outcome:
    code: int
    out: str
    err: str


@pytest.fixture
def run(tmp_path):
    """Run a command in an empty folder; a traceback is never an acceptable answer."""

    def command(*words, **environment):
        done = subprocess.run(
            [sys.executable, "-m", "bivaluate", *map(str, words)],
            cwd=tmp_path,
            env={**os.environ, "COLUMNS": "200", **environment},
            capture_output=True,
            text=True,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return Outcome(done.returncode, done.stdout, done.stderr)

    return command


@pytest.fixture
def example(tmp_path):
    """The worked example of the documentation as files: matrix.csv and solution.json."""
    X = np.array([[1, 2, 4, 3, 0, 5], [2, 3, 5, 4.5, 1, 2], [2, 5, 8, 7, 3, 1], [6, 1, 2, 4, 1, 3], [3, 7, 1, 6, 4, 5]])
    lines = ["gene,a,b,c,d,e,f"] + [f"g{i}," + ",".join(map(str, row)) for i, row in enumerate(X, 1)]
    (tmp_path / "matrix.csv").write_text("\n".join(lines) + "\n")
    solution = Biclustering([([0, 1, 2], [0, 1, 2, 3]), ([3, 4], [2, 3, 4, 5]), ([1, 2, 3], [0, 1])], X.shape)
    solution.to_json(tmp_path / "solution.json")
    solution.select([0, 1]).to_json(tmp_path / "two.json")
    return tmp_path
