"""The only file that imports numba: one decorator, one set of flags.

Modules that hold kernels import this one, so they are themselves imported only when work is large enough.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])

# reassoc lets sums use vector lanes; NaN and infinity keep their meaning.
FLAGS: dict[str, Any] = {
    "nogil": True,
    "fastmath": {"reassoc", "contract", "nsz", "arcp"},
    "error_model": "numpy",
}


def kernel(function: Function) -> Function:
    """Compile `function` at its first call, and keep the machine code on disk where that is possible."""
    try:
        return cast(Function, numba.njit(cache=True, **FLAGS)(function))
    except RuntimeError:  # no writable cache folder
        return cast(Function, numba.njit(**FLAGS)(function))
