"""Kernels are compiled when they are first called, which is said once, and kept by numba."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from bivaluate import _jit

CODE = """
import numpy as np
from bivaluate import _jit
@_jit.inner_kernel
def half(x):
    return 0.5 * x
@_jit.kernel
def twice(x):
    return 4 * half(x.sum())
print(twice(np.arange(5.0)), twice(np.arange(5)))
"""


def test_kernels_are_compiled_once_and_kept(tmp_path):
    (tmp_path / "code.py").write_text(CODE)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    said = []
    for _ in range(2):
        words = [sys.executable, str(tmp_path / "code.py")]
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
        assert done.stdout == "20.0 20.0\n", done.stderr
        said.append(done.stderr)
    assert said == ["compiling kernels, once for each: later runs find them ready …\n", ""]


def test_an_interrupt_waits_until_a_kernel_is_compiled():
    """numba swallows Ctrl-C within LLVM and fails later with an error of its own."""
    compilations, done = _jit._Compilations(), []

    @_jit.kernel
    def any_kernel(x):
        return x

    class Event:
        data = {"dispatcher": any_kernel}  # noqa: RUF012

    def compile_():
        compilations.on_start(Event)
        compilations.on_start(Event)  # of a kernel that it calls
        signal.raise_signal(signal.SIGINT)
        compilations.on_end(Event)
        done.append("compiled")
        compilations.on_end(Event)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            compile_()
    finally:
        assert signal.signal(signal.SIGINT, before) is signal.default_int_handler
    assert done == ["compiled"]


def test_counting_bits():
    @_jit.kernel
    def ones(x):
        return _jit.count_ones(x)

    assert [ones(np.uint64(n)) for n in (0, 5, 2**64 - 1)] == [0, 2, 64]
