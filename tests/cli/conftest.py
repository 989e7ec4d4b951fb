"""Commands are run as a newcomer would type them, in a folder of their own."""

import io
import os
import subprocess
import sys
import warnings
from dataclasses import dataclass

import numpy as np
import pytest

from bivaluate import Biclustering
from bivaluate.cli import main, tables


@dataclass
class Outcome:
    code: int
    out: str
    err: str


@pytest.fixture
def run(tmp_path, monkeypatch, capsys, started_as, terminal):
    """Run a command in an empty folder, within this process; a traceback is never an acceptable answer."""

    def command(*words, stdin=b"", **environment):
        capsys.readouterr()
        with monkeypatch.context() as patch, warnings.catch_warnings():
            warnings.simplefilter("default")
            patch.chdir(tmp_path)
            for name, value in environment.items():
                patch.setenv(name, value)
            patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
            started_as("bivaluate", *words)
            terminal(int(environment.get("COLUMNS", tables.WIDE)))
            with pytest.raises(SystemExit) as end:
                main.main()
        shown = capsys.readouterr()
        return Outcome(end.value.code or 0, shown.out, shown.err)

    return command


@pytest.fixture
def run_afresh(tmp_path):
    """The same in a process of its own: slower, for what a process alone shows."""

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


@pytest.fixture
def type_in(tmp_path, monkeypatch, run):
    """Type a command; return exit code, output and messages."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 12))
    np.savetxt(tmp_path / "m.csv", X, delimiter=",")
    X[3, 4] = np.nan
    np.savetxt(tmp_path / "holes.csv", X, delimiter=",")
    solution = Biclustering([(range(5), range(4)), ([7], range(4)), (range(10, 20), range(2, 9))], X.shape)
    solution.to_json(tmp_path / "s.json")
    (tmp_path / "d").mkdir()
    solution.select([0, 2]).to_json(tmp_path / "d" / "s.json")
    (tmp_path / "t.json").write_text('{"shape": [12, 30], "biclusters": []}')
    (tmp_path / "one.json").write_text("[[[1, 30], [2, 12]]]")
    (tmp_path / "q.blocks").write_text("BC000\tS=4\n Genes [2]: g1 g3 \n Conds [2]: b d \n")
    monkeypatch.chdir(tmp_path)

    def command(*words, stdin=b""):
        done = run(*words, stdin=stdin)
        return done.code, done.out, done.err

    return command
