"""The only file that imports numba: the decorators every kernel goes through, one set of flags.

Modules that hold kernels import this one, so they are themselves imported only when work is large enough.
"""

from __future__ import annotations

import functools
import hashlib
import json
import pickle
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import config, serialize, types
from numba.core.compiler import CompileResult
from numba.core.registry import cpu_target
from numba.extending import intrinsic, register_jitable

from bivaluate._files import SHIPPED, SHIPPED_FOR, compiled_from

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


def in_kernels_too(function: Callable[..., Any]) -> None:
    """Let kernels call a plain function of numbers, compiled, that Python calls as it is."""
    cast(Any, register_jitable)(error_model="numpy")(function)


def _compiled(function: Function, fastmath: set[str] | bool, **options: Any) -> Function:
    flags: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": fastmath, **options}
    try:
        compiled = numba.njit(cache=True, **flags)(function)
    except RuntimeError:  # no writable cache folder
        compiled = numba.njit(**flags)(function)
    compiler = getattr(compiled, "_compiler", None)
    if compiler is not None:  # none where compilation is switched off
        compiler.compile = _announced(compiler.compile)
        compiled._cache.load_overload = _shipped_first(function, compiled._cache.load_overload)
        _kernels.append(compiled)
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
    """Hold Ctrl-C back until a kernel is compiled: the compiler would swallow it and leave broken code behind."""
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
_kernels: list[Any] = []


def ship(folder: Path) -> None:
    """Write the machine code of every kernel compiled so far in this process, to be installed as `SHIPPED`.

    `hatch_build.py` calls it.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for compiled in _kernels:
        for signature, result in compiled.overloads.items():
            (folder / _file(compiled.py_func, signature)).write_bytes(cast(Any, serialize).dumps(result._reduce()))
    (folder / SHIPPED_FOR).write_text(json.dumps(_made_for()), encoding="utf-8")


@functools.cache
def is_shipped() -> bool:
    """Whether machine code made from this source, Python and numba is installed, and this machine can run it."""
    try:
        shipped = json.loads((SHIPPED / SHIPPED_FOR).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    here = _made_for()
    used, known = set(shipped.pop("features", [])), set(here.pop("features"))
    return bool(shipped == here and used <= known)


def _made_for() -> dict[str, Any]:
    """Return what machine code depends on: the compilers, the source of all kernels, the features of the processor."""
    system, _, features = cpu_target.target_context.codegen().magic_tuple()
    used = [name for name in features.split(",") if name.startswith("+")]
    return {**compiled_from(), "system": system, "features": used}


def _shipped_first(function: Callable[..., Any], load: Callable[..., Any]) -> Callable[..., Any]:
    """Let a kernel look for its machine code in the installation before it looks in numba's own folder."""

    def load_overload(signature: Any, target: Any) -> Any:
        if is_shipped() and (file := SHIPPED / _file(function, signature)).exists():
            target.refresh()
            return cast(Any, CompileResult)._rebuild(target, *pickle.loads(file.read_bytes()))
        return load(signature, target)

    return load_overload


def _file(function: Callable[..., Any], signature: Any) -> str:
    digest = hashlib.sha256(repr(signature).encode()).hexdigest()[:16]
    return f"{function.__module__.removeprefix('bivaluate.')}.{function.__name__}.{digest}.bin"


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


@intrinsic
def _leading_zeros_of(typing_context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], context.get_constant(types.boolean, False))

    return types.int64(types.uint64), generate


@intrinsic
def _product_of(typing_context: Any, word: Any, high: Any, low: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        wide = context.get_constant(types.uint64, 0).type.__class__(128)
        word, high, low = (builder.zext(part, wide) for part in arguments)
        bits = wide(64)
        total = builder.add(builder.mul(word, high), builder.lshr(builder.mul(word, low), bits))
        halves = [builder.trunc(part, arguments[0].type) for part in (builder.lshr(total, bits), total)]
        return context.make_tuple(builder, signature.return_type, halves)

    return cast(Any, types).UniTuple(types.uint64, 2)(types.uint64, types.uint64, types.uint64), generate


def _do_nothing() -> None:
    pass


def _bit_count(word: Any) -> int:
    return int(word).bit_count()


def _zeros_before(word: Any) -> int:
    return 64 - int(word).bit_length()


def _top_bits(word: Any, high: Any, low: Any) -> tuple[Any, Any]:
    total = int(word) * int(high) + (int(word) * int(low) >> 64)
    return np.uint64(total >> 64), np.uint64(total & ((1 << 64) - 1))


# Called inside a kernel: asks for the widest vector registers of the machine, of which LLVM uses half by itself.
use_wide_vectors: Any = _attribute('"prefer-vector-width"="512"')

# Called inside a large kernel that others call: they then hold no copy of it, which takes less time to compile.
keep_apart: Any = _attribute("noinline")

# Called inside a kernel that others call for every cell: they hold a copy, however large it is.
copy_into_callers: Any = _attribute("alwaysinline")

# Called inside a kernel: how many bits of a 64-bit word are set, in one instruction.
count_ones: Any = _bit_count if cast(Any, config).DISABLE_JIT else _population_count

# Called inside a kernel: how many of the first bits of a 64-bit word are 0.
leading_zeros: Any = _zeros_before if cast(Any, config).DISABLE_JIT else _leading_zeros_of

# Called inside a kernel with 64-bit words: the first 128 bits, as two words, of `word` times the bits of high and low.
wide_product: Any = _top_bits if cast(Any, config).DISABLE_JIT else _product_of


@kernel
def copy_cells(source: Any, out: Any) -> None:
    """Fill `out` with the first cells of `source`; ``out[:] = source`` takes 2 s to compile, for its error message."""
    for k in range(out.size):
        out[k] = source[k]
