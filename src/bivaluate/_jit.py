"""The only file that imports numba: the decorators every kernel goes through, one set of flags.

Modules that hold kernels import this one, so they are themselves imported only when work is large enough.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import numba
from numba.core import config, types
from numba.extending import intrinsic

Function = TypeVar("Function", bound=Callable[..., Any])

# reassoc lets sums use vector lanes; NaN and infinity keep their meaning.
FASTMATH = {"reassoc", "contract", "nsz", "arcp"}


def kernel(function: Function) -> Function:
    """Compile `function` at its first call, and keep the machine code on disk where that is possible."""
    return _compiled(function, FASTMATH)


def inner_kernel(function: Function) -> Function:
    """Like `kernel`, for kernels to call and never for Python, which would crash: less to compile without that way in."""
    return _compiled(function, FASTMATH, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def inlined_kernel(function: Function) -> Function:
    """Like `kernel`, copied into the kernels that call it: for a piece cut out of an inner loop for its readers."""
    return _compiled(function, FASTMATH, inline="always")


def strict_kernel(function: Function) -> Function:
    """Like `kernel`, but the order of additions stays as written: for code that guards its digits."""
    return _compiled(function, False)


def _compiled(function: Function, fastmath: set[str] | bool, **options: Any) -> Function:
    flags: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": fastmath, **options}
    try:
        compiled = numba.njit(cache=True, **flags)(function)
    except RuntimeError:  # no writable cache folder
        compiled = numba.njit(**flags)(function)
    compiler = getattr(compiled, "_compiler", None)
    if compiler is not None:  # none where compilation is switched off
        compiler.compile = _announced(compiler.compile)
    return cast(Function, compiled)


def _announced(compile_: Callable[..., Any]) -> Callable[..., Any]:
    """Let the first compilation of a kernel in this process say so on stderr; a cached kernel is silent."""

    def announce_and_compile(*arguments: Any, **options: Any) -> Any:
        if not _said:
            _said.append(True)
            print("compiling kernels, once …", file=sys.stderr, flush=True)
        with _interrupts_wait():
            return compile_(*arguments, **options)

    return announce_and_compile


@contextmanager
def _interrupts_wait() -> Iterator[None]:
    """Hold Ctrl-C back until a kernel is compiled: within the compiler it would be swallowed and break what is compiled."""
    if threading.current_thread() is not threading.main_thread() or not callable(signal.getsignal(signal.SIGINT)):
        yield
        return
    held: list[tuple[Any, ...]] = []
    handler = cast(Callable[..., Any], signal.signal(signal.SIGINT, lambda *came: held.append(came)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
    if held:
        handler(*held[0])


_said: list[bool] = []


def _attribute(name: str) -> Any:
    """Return what, called inside a kernel, gives its machine code an attribute of LLVM; nothing where none is made."""
    if cast(Any, config).DISABLE_JIT:
        return _do_nothing

    @intrinsic
    def give(typing_context: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            attributes = builder.function.attributes
            if isinstance(attributes, set):
                set.add(attributes, name)
            return context.get_dummy_value()

        return types.void(), generate

    return give


@intrinsic
def _population_count(typing_context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


def _do_nothing() -> None:
    pass


def _bit_count(word: Any) -> int:
    return int(word).bit_count()


# Called inside a kernel: asks for the widest vector registers of the machine, of which LLVM uses half by itself.
use_wide_vectors: Any = _attribute('"prefer-vector-width"="512"')

# Called inside a large kernel that others call: they call it instead of holding a copy, which takes less time to compile.
keep_apart: Any = _attribute("noinline")

# Called inside a kernel: how many bits of a 64-bit word are set, in one instruction.
count_ones: Any = _bit_count if cast(Any, config).DISABLE_JIT else _population_count
