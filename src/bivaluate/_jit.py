"""The only file that imports numba: the decorators every kernel goes through, one set of flags.

Modules that hold kernels import this one, so they are themselves imported only when work is large enough.
"""

import signal
import sys
import threading
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba.core import event, types
from numba.extending import intrinsic

Function = TypeVar("Function", bound=Callable[..., Any])

# reassoc lets sums use vector lanes; NaN and infinity keep their meaning.
FASTMATH = {"reassoc", "contract", "nsz", "arcp"}


def kernel(function: Function) -> Function:
    """Compile `function` at its first call, and keep the machine code on disk where that is possible."""
    return _compiled(function, FASTMATH)


def inner_kernel(function: Function) -> Function:
    """Like `kernel`, but only for kernels to call (Python would crash): without that entry there is less to compile."""
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
    _kernels.append(compiled)
    return cast(Function, compiled)


class _Compilations(event.Listener):
    """What happens while numba compiles: the first kernel of a process says so, and Ctrl-C waits.

    The compiler would swallow Ctrl-C and leave broken code behind. A kernel that numba kept is not compiled again.
    """

    def __init__(self) -> None:
        self._is_told, self._depth = False, 0
        self._handler: Callable[..., Any] | None = None
        self._held: list[tuple[Any, ...]] = []

    def on_start(self, event: Any) -> None:
        if not any(event.data["dispatcher"] is kernel for kernel in _kernels):
            return
        if not self._is_told:
            self._is_told = True
            print("compiling kernels, once for each: later runs find them ready …", file=sys.stderr, flush=True)
        if threading.current_thread() is not threading.main_thread():
            return
        self._depth += 1
        if self._depth == 1 and callable(found := signal.getsignal(signal.SIGINT)):
            self._handler, self._held = found, []
            signal.signal(signal.SIGINT, lambda *came: self._held.append(came))

    def on_end(self, event: Any) -> None:
        is_ours = any(event.data["dispatcher"] is kernel for kernel in _kernels)
        if not is_ours or threading.current_thread() is not threading.main_thread():
            return
        self._depth -= 1
        if self._depth == 0 and self._handler is not None:
            handler, self._handler = self._handler, None
            signal.signal(signal.SIGINT, handler)
            if self._held:
                handler(*self._held[0])


_kernels: list[Any] = []
cast(Any, event).register("numba:compile", _Compilations())


def _attribute(name: str) -> Any:
    """Return what, called inside a kernel, gives its machine code an attribute of LLVM; nothing where none is made."""
    if cast(Any, numba).config.DISABLE_JIT:
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

# Called inside a large kernel that others call: they then hold no copy of it, which takes less time to compile.
keep_apart: Any = _attribute("noinline")

# Called inside a kernel: how many bits of a 64-bit word are set, in one instruction.
count_ones: Any = _bit_count if cast(Any, numba).config.DISABLE_JIT else _population_count


@kernel
def copy_cells(source: Any, out: Any) -> None:
    """Fill `out` with the first cells of `source`; ``out[:] = source`` takes 2 s to compile, for its error message."""
    for k in range(out.size):
        out[k] = source[k]
