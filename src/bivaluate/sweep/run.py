"""Run a plan into a run folder, go on where an earlier start was stopped, and put the parts of a run together."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import signal
import tempfile
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import KW_ONLY, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from bivaluate import __version__
from bivaluate._check import check_int
from bivaluate._errors import ParameterError, RunError, SearchWarning
from bivaluate._files import remove_unfinished, write_whole
from bivaluate._text import given_command, listing, plural
from bivaluate.matrix import Matrix
from bivaluate.registry import get_metric
from bivaluate.solution import Biclustering
from bivaluate.sweep.cells import DEGENERATE, FAILED, OK, TIMED_OUT, Cell, Slot, Task, Work
from bivaluate.sweep.folder import JOURNAL, MATRICES, PLAN, checksum, locked, prepare_folder, store_matrix, stored_bytes
from bivaluate.sweep.journal import MEASURES, Journal, now, pack_solution
from bivaluate.sweep.load import Run, load_run
from bivaluate.sweep.plan import Plan, differences
from bivaluate.sweep.portfolio import AUTO, PORTFOLIO, check_searchable
from bivaluate.sweep.schedule import Chosen, DataSet, Scored, choose_for, first_slots, matrix_keys, next_slots, sources
from bivaluate.sweep.schedule import tasks as tasks_of
from bivaluate.sweep.workers import Workers, kept_workers, perform_here, perform_parallel

PART = "part"  # in the journal: which of how many
PACKAGES = ("numpy", "scipy", "pandas", "scikit-learn", "numba", "distributed", "pyarrow")
KEPT_BYTES = 500_000_000
Progress = Callable[[int, int, Cell], None]


@dataclass
class Sweep:
    """Algorithms x K x seeds x data sets, into a run folder.

    Parameters
    ----------
    plan, out : Plan, str or path-like or None
        What to do, and the run folder: an unfinished run of the same plan in it is continued. By default the folder
        is temporary and is removed with the :class:`Run`.
    jobs, scheduler : int, str or None
        Worker processes on this machine, or the address of a Dask scheduler, ``"tcp://host:8786"``, to use instead.
    retry, progress : bool, callable or None
        Repeat fits that failed or timed out; called after every fit with (finished, all, cell).
    part : str, optional
        Perform every n-th fit only: ``"3/16"`` is the third of sixteen parts, which :func:`merge_parts` puts together.

    Raises
    ------
    ParameterError
        If `jobs` is not a positive whole number, or there is no such part.

    See Also
    --------
    load_run

    Examples
    --------
    >>> Sweep(Plan("scenario:S9b", "cca", k=[2, 3])).run().results["status"].tolist()
    ['ok', 'ok']
    """

    plan: Plan
    out: str | os.PathLike[str] | None = None
    _: KW_ONLY
    jobs: int = 1
    scheduler: str | None = None
    retry: bool = False
    progress: Progress | None = None
    part: str | None = None

    def __post_init__(self) -> None:
        check_int("jobs", self.jobs, 1)
        if self.part is not None:
            check_part(self.part)
            if self.plan.k == AUTO:
                raise ParameterError("part needs a plan that names K, such as 3, 5 and 8: here K depends on scores.")
        self._kept: dict[tuple[str, int | None], Matrix] = {}
        self._chosen: dict[tuple[str, int | None], Chosen] = {}
        self.folder = Path(tempfile.mkdtemp(prefix="bivaluate-run-") if self.out is None else self.out)

    def run(self) -> Run:
        """Perform what is not finished yet and write the tables.

        Returns
        -------
        Run
            The run folder, open for reading.

        Raises
        ------
        RunError, FileError
            If the folder holds something else, is in use or cannot be written, or a matrix cannot be read.

        Examples
        --------
        >>> run = Sweep(Plan(["scenario:S9b"], ["cca"], k=[2])).run()
        """
        found = sources(self.plan)
        prepare_folder(self.folder)
        with locked(self.folder), kept_workers() as workers:
            remove_unfinished(self.folder)
            journal = Journal(self.folder / JOURNAL, write=True)
            try:
                if journal.empty:
                    if self._in_workers:
                        each = len(self.plan.algorithms) + (len(PORTFOLIO) if AUTO in self.plan.algorithms else 0)
                        workers.start(min(self.jobs, len(matrix_keys(found, self.plan)) * each))
                    self._set_up(journal, found)
                else:
                    self._check_same(journal, found)
                    if self.retry:
                        journal.reopen([FAILED, TIMED_OUT])
                try:
                    self._work(journal, workers, found)
                finally:
                    Run(self.folder, journal).export()
            finally:
                journal.close()
        run = load_run(self.folder)
        if self.out is None:
            weakref.finalize(run, shutil.rmtree, self.folder, ignore_errors=True)
        return run

    def _load(self, source: DataSet, seed: int | None) -> tuple[Matrix, Biclustering | None]:
        """Load a matrix, and keep it in memory as long as all of them together are not large."""
        matrix, truth = source.load(seed)
        if sum(map(stored_bytes, [*self._kept.values(), matrix])) < KEPT_BYTES:
            self._kept[source.name, seed] = matrix
        return matrix, truth

    def _set_up(self, journal: Journal, found: list[DataSet]) -> None:
        entries, planted, said = [], {}, dict[str, None]()
        for source, seed in matrix_keys(found, self.plan):
            matrix, truth = self._load(source, seed)
            planted[source.name, seed] = len(truth) if truth is not None else None
            if AUTO in self.plan.algorithms:
                check_searchable(matrix)
            self._chosen[source.name, seed] = choose_for(self.plan, matrix)
            said |= dict.fromkeys(self._about(source.name, matrix, self._chosen[source.name, seed]))
            file = store_matrix(self.folder, source.name, seed, matrix, source.spec)
            packed = None if truth is None else pack_solution(truth)
            entries.append((source.name, seed, file, checksum(matrix), *matrix.shape, source.spec, packed))
        for text in said:
            warnings.warn(text, SearchWarning, stacklevel=3)
        if not any(chosen.searched for chosen in self._chosen.values()):
            raise ParameterError(f"none of {listing(list(self.plan.algorithms))} can be run on the data.")
        write_whole(self.folder / PLAN, self.plan.to_toml())
        provenance: dict[str, Any] = {"bivaluate": __version__, "python": platform.python_version()}
        provenance |= {"platform": platform.platform(), "packages": package_versions()}
        provenance |= {"command": given_command(), "created": now()}
        plan = json.dumps(self.plan.to_dict())
        meta = {"version": __version__, "plan": plan, "provenance": json.dumps(provenance)}
        own = [get_metric(key) for key in self.plan.metrics if ":" in key]
        meta[MEASURES] = json.dumps({metric.key: metric.direction for metric in own if metric.ranks_solutions})
        slots = list(first_slots(self.plan, found, self._chosen, planted))
        if self.part is not None:
            meta |= {PART: self.part, "fits": str(len(self._mine(slots)))}
        journal.create(meta, entries, slots)

    def _mine(self, slots: list[Slot]) -> set[Slot]:
        """Return the places that this process is to fill: all of them, or those of its part."""
        if self.part is None:
            return set(slots)
        which, of = check_part(self.part)  # every n-th fit of the whole plan, whatever is finished
        planned = list(tasks_of(self.plan, slots, self._chosen, lambda _: b""))
        return {task.slot(k) for task in planned[which - 1 :: of] for k in task.ks}

    def _about(self, dataset: str, matrix: Matrix, chosen: Chosen) -> Iterator[str]:
        """Say which algorithms of a pattern cannot take a data set, and for which a sparse one is made dense."""
        from bivaluate.sweep.work import makes_dense

        left = {key: reason for key, reason in chosen.left_out.items() if key in self.plan.by_pattern}
        for first, reason in list(left.items())[:1]:
            yield f"{listing(list(left))} {'is' if len(left) == 1 else 'are'} left out on data set {dataset}. {first}: {reason}"
        given = self.plan.parameters
        dense = [n for n, one in chosen.searched.items() if makes_dense(one.word, given.get(one.word, {}), matrix)]
        if dense:
            size = f"{8e-6 * matrix.shape[0] * matrix.shape[1]:,.3g} MB"
            yield f"data set {dataset} is sparse, and is made dense for {listing(dense)} ({size})."

    def _check_same(self, journal: Journal, found: list[DataSet]) -> None:
        there = Run(self.folder, journal)
        made_by = journal.meta["version"]
        if made_by.partition(".")[0] != __version__.partition(".")[0]:
            mixed = f"{self.folder} was made by bivaluate {made_by}, this is {__version__}: results would mix"
            raise RunError(f'{mixed}. Install "bivaluate=={made_by}" to continue it, or choose another folder.')
        if different := differences(self.plan, there.plan):
            held = f"{self.folder} holds a run of another plan: {'; '.join(different)}"
            raise RunError(f"{held}. Choose another folder, or start with the plan the folder was made with.")
        if (part := journal.meta.get(PART)) != self.part:
            held = "the whole of a run" if part is None else f"part {part} of a run"
            raise RunError(f"{self.folder} holds {held}. Choose another folder, or name the same part.")
        for source, seed in matrix_keys(found, self.plan):
            matrix = self._load(source, seed)[0]
            if there.matrices.get((source.name, seed), {}).get("checksum") != checksum(matrix):
                changed = f"the matrix of {source.name} has changed since the run in {self.folder} began"
                raise RunError(f"{changed}. Choose another folder, or restore the matrix.")
            self._chosen[source.name, seed] = choose_for(self.plan, matrix)
        journal.note("version", __version__)

    def _work(self, journal: Journal, workers: Workers, found: list[DataSet]) -> None:
        mine = self._mine(journal.slots())
        waiting = [slot for slot in journal.slots(finished=False) if slot in mine]
        everything, done = len(mine), len(mine) - len(waiting)
        before, jobs = done, f"dask {self.scheduler}" if self.scheduler else str(self.jobs)
        with journal.session(given_command(), jobs, lambda: done - before):
            while True:
                run = Run(self.folder, journal)
                planned = list(tasks_of(self.plan, waiting, self._chosen, lambda c: journal.packed(c, "solution")))
                work = self._perform(run, planned, workers)
                with closing(work) as finished, interrupts() as raise_lost:
                    for task, outcomes in finished:
                        slots = [task.slot(outcome.k) for outcome in outcomes]
                        journal.finish(slots, outcomes)
                        for done, slot in enumerate(slots, done + 1):  # noqa: B020
                            if self.progress is not None:
                                self.progress(done, everything, slot.cell)
                        raise_lost()
                waiting = self._next(journal, found) if self.plan.k == AUTO else []
                if not waiting:
                    break
                with journal.transaction():
                    journal.add(waiting)
                everything += len(waiting)

    def _next(self, journal: Journal, found: list[DataSet]) -> list[Slot]:
        """Return what comes next where the plan finds K: it depends on the scores of what is finished."""
        done: Scored = {}
        for row in Run(self.folder, journal).results.to_dict("records"):
            cell = Cell(*(row[name] for name in Cell._fields))
            done[cell] = row if row["status"] in (OK, DEGENERATE) else None  # type: ignore[assignment]
        return next_slots(self.plan, found, self._chosen, done)

    @property
    def _in_workers(self) -> bool:
        """Whether tasks are performed by worker processes of this machine."""
        return self.scheduler is None and (self.jobs > 1 or self.plan.time_limit is not None)

    def _perform(self, run: Run, work: list[Task], workers: Workers) -> Work:
        def matrix_of(task: Task) -> Matrix:
            return self._kept.get(task.matrix_key) or run.matrix(*task.matrix_key)

        limit = self.plan.time_limit
        if self.scheduler is not None:
            from bivaluate.sweep.dask import perform_on_cluster

            return perform_on_cluster(work, matrix_of, self.scheduler, limit)
        if self._in_workers:
            return perform_parallel(work, matrix_of, self.jobs, limit, workers)
        return perform_here(work, matrix_of)


@contextmanager
def interrupts() -> Iterator[Callable[[], None]]:
    """Give a function that raises the interrupt from the keyboard that Python dropped while it freed an object."""
    asked: list[bool] = []

    def raise_lost() -> None:
        if asked:
            raise KeyboardInterrupt

    def interrupt(*_: Any) -> None:
        asked.append(True)
        raise KeyboardInterrupt

    # another handler is somebody else's decision, and only the main thread may have one
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not ours or threading.current_thread() is not threading.main_thread():
        yield raise_lost
        return
    signal.signal(signal.SIGINT, interrupt)
    try:
        yield raise_lost
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def installed_version(package: str) -> str | None:
    """Return the version of a package; None if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def package_versions() -> dict[str, str]:
    """Return the versions of what results may depend on."""
    return {name: installed_version(name) or "not installed" for name in PACKAGES}


def check_part(part: str) -> tuple[int, int]:
    """Return which part of how many.

    >>> check_part("3/16")
    (3, 16)
    """
    found = re.fullmatch(r"(\d+)/(\d+)", part.strip())
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise ParameterError(f"part is {part!r}; which of how many is needed, from 1/16 to 16/16 for example.")
    return int(found[1]), int(found[2])


def merge_parts(parts: Sequence[str | os.PathLike[str]], out: str | os.PathLike[str]) -> Run:
    """Put the parts of a run together: its tables and solutions are those of a run in one piece, to the byte.

    Parameters
    ----------
    parts, out : sequence of str or path-like, str or path-like
        The run folders of all parts, in any order, and the new run folder.

    Returns
    -------
    Run
        The whole run.

    Raises
    ------
    RunError, FileError
        If a part is missing, unfinished, twice there or of another plan, or the new folder holds a run.

    See Also
    --------
    Sweep

    Examples
    --------
    >>> merge_parts(["P1", "P2"], "RUN")  # doctest: +SKIP
    """
    runs = {Path(part): load_run(part) for part in parts}
    if not runs:
        raise ParameterError("no part is named: give the folders of all parts.")
    _check_parts(runs)
    folder = Path(out)
    if os.path.exists(folder / JOURNAL):
        raise RunError(f"{folder} holds a run already. Choose another folder.")
    prepare_folder(folder)
    first, *others = runs
    with locked(folder):
        shutil.copytree(first / MATRICES, folder / MATRICES, dirs_exist_ok=True)
        shutil.copy(first / PLAN, folder / PLAN)
        shutil.copy(first / JOURNAL, folder / JOURNAL)
        journal = Journal(folder / JOURNAL, write=True)
        try:
            for other in others:
                journal.take_over(other / JOURNAL)
            journal.note(PART, None)
            Run(folder, journal).export()
        finally:
            journal.close()
    return load_run(folder)


def _check_parts(runs: dict[Path, Run]) -> None:
    """Say which part is missing, twice there, unfinished or of another run."""

    def checksums(run: Run) -> list[str]:
        return [entry["checksum"] for entry in run.matrices.values()]

    first, of_first = next(iter(runs.items()))
    found: dict[int, Path] = {}
    ours = of_first.journal.meta["version"]
    for path, run in runs.items():
        journal = run.journal
        text = journal.meta.get(PART)
        if text is None:
            raise RunError(f"{path} is a whole run, not a part: bivaluate sweep --part makes parts.")
        if different := differences(of_first.plan, run.plan):
            raise RunError(f"{path} belongs to another plan than {first}: {'; '.join(different)}.")
        if (version := journal.meta["version"]) != ours:
            raise RunError(f"{path} was made by bivaluate {version}, {first} by {ours}.")
        if checksums(run) != checksums(of_first):
            raise RunError(f"{path} was made from other matrices than {first}.")
        which, of = check_part(text)
        if which in found:
            raise RunError(f"{found[which]} and {path} are both part {text}.")
        found[which] = path
        if lacking := int(journal.meta["fits"]) - len(journal.slots(finished=True)):
            raise RunError(f"{path}, part {text}, lacks {plural(lacking, 'fit')}: run its command again.")
    if missing := [f"{number}/{of}" for number in range(1, of + 1) if number not in found]:
        raise RunError(f"{listing(missing, 10)} of the parts {'is' if len(missing) == 1 else 'are'} missing.")
