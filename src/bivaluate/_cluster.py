"""Rows on the workers of a Dask cluster: work goes to them, sums come back, the matrix stays where it is."""

import sys
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any

import numpy as np

from bivaluate._errors import MatrixError, ParameterError, RunError, import_optional
from bivaluate._rows import ArraySource, SparseSource, split_rows
from bivaluate._types import Ints

RowsFunction = Callable[[int, Ints, Any], Any]
Pieces = Sequence[tuple[Any, Any]]  # where each begins and ends, and what holds its rows

CONNECT_SECONDS = 10
TRIES = 3
WAIT_SECONDS = 0.2  # until the scheduler has noticed that a worker is lost
# How many sums are added up in one place.
ADDED_AT_ONCE = 8
# A pass over a file has at most this many tasks: their sums may travel, and are as large for few rows as for many.
MOST_TASKS = 256


def connect(address: str) -> Any:
    """Return a client of the scheduler, once it has at least one worker with this version of bivaluate."""
    try:
        client = distributed().Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        said = f"no Dask scheduler answers at {address} ({error}). Start one with `dask scheduler`, and workers with"
        raise RunError(f"{said} `dask worker {address}`.") from None
    except TypeError as error:  # how Dask says that it has no certificates
        how = "Name the certificates in Dask's configuration: ca-file, client.cert, client.key of distributed.comm.tls"
        raise RunError(f"cannot make a secure connection to {address} ({error}). {how}.") from None
    try:
        client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        versions = client.run(_worker_version)
    except TimeoutError:
        client.close()
        raise RunError(f"the Dask scheduler at {address} has no workers. Start some: dask worker {address}") from None
    from bivaluate import __version__

    for worker, version in versions.items():
        if version != __version__:
            client.close()
            said = f"the Dask worker {worker} has {version}, and this is bivaluate {__version__}."
            raise RunError(f"{said} Install the same version on all machines.")
    return client


def distributed() -> Any:
    """Return dask.distributed, an extra."""
    return import_optional("distributed", "running on a cluster")


def _worker_version() -> str:
    from bivaluate import __version__

    return __version__


class DaskSource:
    """A Dask array split along rows alone: its blocks are looked at where they are."""

    def __init__(self, array: Any, name: str = "X", client: Any = None) -> None:
        if array.ndim != 2:
            raise MatrixError(f"{name} has {array.ndim} dimensions; a 2-D matrix (rows x columns) is needed.")
        if any(size != size for size in array.shape):
            raise MatrixError(f"{name} is a Dask array of unknown shape: call {name}.compute_chunk_sizes() first.")
        if len(array.chunks[1]) > 1:
            found = f"{name} is a Dask array split along columns into {len(array.chunks[1])} chunks"
            raise MatrixError(f"{found}; rows have to be whole. Pass {name}.rechunk({{0: 'auto', 1: -1}}).")
        if np.dtype(array.dtype).kind not in "fiub":
            raise MatrixError(f"{name} has dtype {array.dtype}; real numbers are needed.")
        self.array, self._client = array, client
        self.shape = (int(array.shape[0]), int(array.shape[1]))
        self.dtype: np.dtype[Any] = np.dtype(array.dtype)
        self.sparse = type(array._meta).__module__.startswith("scipy.sparse")
        self.edges = np.concatenate([[0], np.cumsum(array.chunks[0])]).astype(np.int64)

    def transposed(self) -> "DaskSource":
        """Return the array with rows and columns swapped, split along its new rows."""
        return DaskSource(self.array.T.rechunk({0: "auto", 1: -1}), client=self._client)

    @property
    def client(self) -> Any:
        """The cluster given, or that of this process; None without one."""
        if self._client is None and "distributed" in sys.modules:
            with suppress(ValueError):
                return distributed().default_client()
        return self._client

    def rows(self, start: int, stop: int) -> Any:
        """Return rows start:stop, computed."""
        return as_rows(self._compute(self.array[start:stop]))

    def take(self, rows: Ints) -> Any:
        """Return the rows of these numbers, computed."""
        return as_rows(self._compute(self.array[rows]))

    def block(self, rows: Ints, cols: Ints) -> Any:
        """Return some columns of some rows, cut out where the rows are."""
        return as_rows(self._compute(self.array[rows][:, cols]))

    def _compute(self, array: Any) -> Any:
        client = self.client
        return array.compute() if client is None else client.compute(array).result()

    def pieces(self, numbers: Ints, memory: int | None = None) -> Iterator[tuple[Any, Any]]:
        """Yield where each block that holds some of these rows begins and ends, and the block, not computed."""
        blocks = self.array.to_delayed()[:, 0]
        for k, (first, last) in enumerate(zip(self.edges[:-1].tolist(), self.edges[1:].tolist(), strict=True)):
            a, b = np.searchsorted(numbers, (first, last))
            if b > a:
                yield (first, last), (blocks[k], first)

    def map_rows(self, function: RowsFunction, parts: Sequence[tuple[int, Ints]]) -> Iterator[Any]:
        """Yield what a function makes of some rows at a time, each part within one block, called on the workers."""
        blocks = self.array.to_delayed()[:, 0]
        which = [int(np.searchsorted(self.edges, numbers[0], side="right")) - 1 for _, numbers in parts]
        pieces = [(part, (blocks[k], int(self.edges[k]))) for part, k in zip(parts, which, strict=True)]
        yield from results_in_order(self.client, call_with_rows, function, pieces)


class WorkerSource:
    """Any source that opens its file again where it is unpickled: the workers of a cluster do their own reading."""

    def __init__(self, source: Any, client: Any) -> None:
        self.source, self.client = source, client
        self.shape, self.dtype, self.sparse = source.shape, source.dtype, source.sparse
        self.rows, self.take = source.rows, source.take  # read here

    def pieces(self, numbers: Ints, memory: int | None = None) -> Iterator[tuple[Any, Any]]:
        """Yield between which rows each task reads those of these numbers, chunk after chunk, and what reads them."""
        parts = split_rows(numbers, self.source, memory)
        step = -(-len(parts) // MOST_TASKS) or 1
        for group in (parts[start : start + step] for start in range(0, len(parts), step)):
            yield (int(group[0][0]), int(group[-1][-1]) + 1), self.source

    def map_rows(self, function: RowsFunction, parts: Sequence[tuple[int, Ints]]) -> Iterator[Any]:
        """Yield what a function makes of some rows at a time, in order; called on the workers."""
        yield from results_in_order(self.client, call_with_rows, function, [(part, self.source) for part in parts])


def call_with_rows(function: RowsFunction, where: tuple[int, Ints], held: Any, start: int | None = None) -> Any:
    """Call a function with rows of a source, or of a block that starts at a row; runs on a worker."""
    at, numbers = where[0], np.array(where[1])
    if start is None:
        return function(at, numbers, held.take(numbers))
    rows = as_rows(held)
    return function(at, numbers, rows if len(numbers) == rows.shape[0] else rows[numbers - start])


def results_in_order(client: Any, call: Callable[..., Any], shared: Any, pieces: Pieces) -> Iterator[Any]:
    """Yield what the call gives for each piece, in their order; what is lost with a worker is made again."""
    futures, tries = submit(client, call, shared, pieces), 1
    for k in range(len(pieces)):
        while True:
            try:
                found = result_of(futures[k])
                break
            except _Lost:
                if tries == TRIES:
                    raise _lost_too_often() from None
                futures[k:], tries = submit(client, call, shared, pieces[k:]), tries + 1
        futures[k] = None
        yield found


def added_up(
    client: Any,
    call: Callable[..., Any],
    add: Callable[[Sequence[Any]], Any],
    shared: Any,
    pieces: Pieces,
    progress: Callable[[int, int], None] | None = None,
) -> Any:
    """Return the sum of what the call gives for all pieces, added up on the workers; lost ones are made again."""
    for tries in range(TRIES):
        try:
            futures = submit(client, call, shared, pieces)
            if progress is not None:
                for done, _ in enumerate(distributed().as_completed(list(futures), loop=client.loop), 1):
                    progress(done, len(futures))
            while len(futures) > 1:
                groups = [futures[k : k + ADDED_AT_ONCE] for k in range(0, len(futures), ADDED_AT_ONCE)]
                futures = [client.submit(add, group, pure=False) for group in groups]
            return result_of(futures[0])
        except (CancelledError, _Lost):
            if tries == TRIES - 1:
                raise _lost_too_often() from None
    raise AssertionError


def _lost_too_often() -> RunError:
    said = f"workers of the cluster were lost {TRIES} times in the middle of a pass. Start them again, with"
    return RunError(f"{said} more memory each if they ran out of it, or fewer threads.")


class _Lost(Exception):
    """What was on a worker went with it."""


def result_of(future: Any) -> Any:
    """Return what a future brings; errors about the matrix come as they are."""
    try:
        return future.result()
    except Exception as error:
        if type(error).__name__ in ("CancelledError", "KilledWorker", "FutureCancelledError", "FuturesCancelledError"):
            raise _Lost from None
        raise


def send_to_all(client: Any, value: Any) -> Any:
    """Return a future of a value that every worker is sent; one that is lost on the way does without."""
    for tries in range(1, TRIES + 1):
        if client.status != "running":
            break
        try:
            return client.scatter([value], broadcast=True, hash=False)[0]
        except (KeyError, ValueError, OSError) as error:  # how Dask says that a worker it counted on is gone
            if tries == TRIES:
                raise ConnectionError(f"workers were lost {TRIES} times while data were sent to them") from error
            time.sleep(WAIT_SECONDS)
    raise ConnectionError(f"the client is {client.status}")


def submit(client: Any, call: Callable[..., Any], shared: Any, pieces: Pieces) -> list[Any]:
    """Return futures of the call with what all pieces share, and each piece."""
    try:
        there = send_to_all(client, shared)
    except OSError as error:
        raise RunError(f"the Dask scheduler was lost ({error}). Start a new one, then the same command.") from error
    if pieces and isinstance(pieces[0][1], tuple):
        from dask.delayed import delayed

        one = delayed(call, pure=False)
        return list(client.compute([one(there, ends, *block) for ends, block in pieces]))
    return [client.submit(call, there, ends, source, pure=False) for ends, source in pieces]


def as_rows(block: Any) -> Any:
    """Return a computed block as rows: an array, or CSR whatever the sparse form."""
    if isinstance(block, np.ndarray):
        return block
    return SparseSource(block).array if type(block).__module__.startswith("scipy.sparse") else np.asarray(block)


def on_cluster(source: Any, scheduler: Any) -> Any:
    """Return a source whose rows are looked at by the workers of a scheduler: its address, or a client of it."""
    if isinstance(source, (ArraySource, SparseSource)):
        how = "A cluster helps with large .npy, .h5ad and .zarr on a disk all workers see, and with Dask arrays"
        raise ParameterError(f"the matrix is in the memory of this process, where no worker can read it. {how}.")
    client = connect(scheduler) if isinstance(scheduler, str) else scheduler
    made = DaskSource(source.array, client=client) if isinstance(source, DaskSource) else WorkerSource(source, client)
    if isinstance(scheduler, str):
        weakref.finalize(made, client.close)
    return made
