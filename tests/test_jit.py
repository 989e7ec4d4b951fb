"""Machine code that an installation holds is used where it fits, and only there."""

import json
import os
import subprocess
import sys

import pytest

from bivaluate import _jit

CODE = """
import sys
from pathlib import Path
import numpy as np
from bivaluate import _jit
_jit.SHIPPED = Path(sys.argv[1])
@_jit.kernel
def twice(x):
    return 2 * x.sum()
print(twice(np.arange(5.0)), twice(np.arange(5)))
if not _jit.is_shipped():
    _jit.ship(_jit.SHIPPED)
"""


def test_kernels_of_the_installation_are_not_compiled_again(tmp_path):
    (tmp_path / "code.py").write_text(CODE)
    words = [sys.executable, str(tmp_path / "code.py"), str(tmp_path / "shipped")]
    said = []
    for cache in ("first", "second"):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "NUMBA_CACHE_DIR": str(tmp_path / cache)}
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
        assert done.stdout == "20.0 20\n", done.stderr
        said.append("compiling" in done.stderr)
    assert said == [True, False]
    assert len(list((tmp_path / "shipped").iterdir())) == 3


@pytest.mark.parametrize("change", [None, "python", "numba", "system", "source", "features"])
def test_machine_code_of_others_is_left_alone(tmp_path, monkeypatch, change):
    monkeypatch.setattr(_jit, "SHIPPED", tmp_path)
    is_shipped = _jit.is_shipped.__wrapped__
    assert not is_shipped()
    made_for = _jit._made_for()
    fewer = made_for | {"features": made_for["features"][1:]}
    other = {} if change is None else {change: [*made_for["features"], "+flying"] if change == "features" else "other"}
    (tmp_path / "made_for.json").write_text(json.dumps(fewer | other))
    assert is_shipped() == (change is None)
    (tmp_path / "made_for.json").write_text("{")
    assert not is_shipped()


def test_machine_code_of_another_source_is_not_counted_on(tmp_path, monkeypatch):
    """Without it mid-sized input is left to NumPy, rather than to wait for the compiler."""
    from bivaluate import _files

    monkeypatch.setattr(_files, "SHIPPED", tmp_path)
    found = []
    for change in (None, {}, {"source": "another"}, {"numba": "0.1"}):
        if change is not None:
            (tmp_path / _files.SHIPPED_FOR).write_text(json.dumps({**_files.compiled_from(), "features": [], **change}))
        _files.has_machine_code.cache_clear()
        found.append(_files.has_machine_code())
    _files.has_machine_code.cache_clear()
    assert found == [False, True, False, False]
