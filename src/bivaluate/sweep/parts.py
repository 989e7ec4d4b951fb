"""A run in parts, for clusters of jobs: each is a run folder with some of the fits; merging gives the whole run."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from bivaluate._errors import ParameterError, RunError
from bivaluate._text import listing, plural
from bivaluate.sweep.cells import Slot, Task
from bivaluate.sweep.folder import JOURNAL, MATRICES, PLAN, locked, prepare_folder
from bivaluate.sweep.journal import Journal
from bivaluate.sweep.load import Run, load_run
from bivaluate.sweep.plan import differences

PART = "part"  # in the journal: which of how many


def check_part(part: str) -> tuple[int, int]:
    """Return which part of how many.

    >>> check_part("3/16")
    (3, 16)
    """
    found = re.fullmatch(r"(\d+)/(\d+)", part.strip())
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise ParameterError(f"part is {part!r}; which of how many is needed, from 1/16 to 16/16 for example.")
    return int(found[1]), int(found[2])


def slots_of(part: str, planned: Sequence[Task]) -> set[Slot]:
    """Return the places of one part: every n-th fit of the whole plan, whatever is finished."""
    which, of = check_part(part)
    return {task.slot(k) for task in planned[which - 1 :: of] for k in task.ks}


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
        If a part is missing, unfinished, twice there, damaged or of another plan, or the new folder holds a run.

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
    _check(runs)
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


def _check(runs: dict[Path, Run]) -> None:
    """Say which part is missing, twice there, unfinished or of another run."""
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
        if _checksums(run) != _checksums(of_first):
            raise RunError(f"{path} was made from other matrices than {first}.")
        which, of = check_part(text)
        if which in found:
            raise RunError(f"{found[which]} and {path} are both part {text}.")
        found[which] = path
        if lacking := int(journal.meta["fits"]) - len(journal.slots(finished=True)):
            raise RunError(f"{path}, part {text}, lacks {plural(lacking, 'fit')}: run its command again.")
    if missing := [f"{number}/{of}" for number in range(1, of + 1) if number not in found]:
        raise RunError(f"{listing(missing, 10)} of the parts {'is' if len(missing) == 1 else 'are'} missing.")


def _checksums(run: Run) -> list[str]:
    return [entry["checksum"] for entry in run.matrices.values()]
