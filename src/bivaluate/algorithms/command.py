"""Any command as an algorithm: the matrix is written, the program is run, and the file it wrote is read."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any, Literal

import numpy as np
from sklearn.utils import check_random_state

from bivaluate._check import check_choice
from bivaluate._errors import (
    BivaluateError,
    CommandError,
    CommandTimeoutError,
    FileError,
    FormatError,
    ParameterError,
    suggest,
)
from bivaluate._text import Advice, Option, listing, plural
from bivaluate.algorithms import _supervise
from bivaluate.algorithms._estimator import Amount, BiclusteringEstimator, Pair, Values
from bivaluate.algorithms.algorithm import Algorithm
from bivaluate.algorithms.registry import recipes
from bivaluate.matrix import Matrix
from bivaluate.solution import Biclustering

MATRICES = ("tsv", "csv", "numbers", "npy", "mtx")
PLACES = ("program", "matrix", "out", "k", "seed", "rows", "cols")
LAST_LINES, LAST_CHARACTERS = 8, 300  # of what a program said, in messages
OURS = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__")  # variables that are not the program's


@dataclass(eq=False, repr=False)
class CommandEstimator(BiclusteringEstimator):
    """Biclusters found by a program outside bivaluate, in any language: a command line with placeholders.

    The matrix is written to a folder made for the run, with rows named r1, r2, … and columns c1, c2, …; the program is
    started in the current folder, without a shell, and what it wrote is read by the readers of
    :func:`bivaluate.read_solution`.

    Parameters
    ----------
    command : str
        The program and its arguments, quoted as in a shell. Filled in: ``{matrix}`` the file of the matrix, or
        ``{matrix:csv}``, ``{matrix:npy}``, ``{matrix:mtx}`` in another format; ``{out}`` the file or folder to write,
        which does not exist yet, or ``{out}/found.csv`` a file in a folder that does; ``{k}`` the number of biclusters,
        ``{seed}`` the seed, ``{rows}`` and ``{cols}`` the shape, ``{program}`` the parameter `program`.
    n_biclusters : int or "auto", default=5
        Number of biclusters to find. A command without ``{k}`` finds it itself: the first K of them are kept then, and
        "auto" keeps all.
    random_state : int, RandomState or None, default=None
        The seed, or where it is drawn from.
    program : str, default=""
        What stands for ``{program}``: where a recipe's program is to be found.
    matrix : {"tsv", "csv", "numbers", "npy", "mtx"}, default="csv"
        How ``{matrix}`` is written: as a table with names, as tab-separated numbers without names, for NumPy, or in the
        Matrix Market format.
    result : str or None, default=None
        The file to read, a pattern within the folder of the run such as ``"out/*.tsv"``. None: the one file that holds
        biclusters.
    format : str or None, default=None
        Its format, where it cannot be recognised (see ``bivaluate convert --formats``).
    index_base : {0, 1} or None, default=None
        What its numbers count from, where that is not the custom of the format.
    nothing : str or None, default=None
        What the program says when it finds nothing, a regular expression.
    environment : dict or None, default=None
        Variables to set for the program. It inherits those of this process, except the ones about Python.
    missing : {"raise", "omit"}, default="raise"
        What to do about NaN: an error, or leave it to the program (NA in tables).
    time_limit : float or None, default=None
        Seconds after which the program is stopped.
    memory_limit : float or None, default=None
        Megabytes of memory at which the program is stopped, with everything it started (Linux).

    Attributes
    ----------
    solution_ : Biclustering
        The biclusters found, in the order of the file.
    rows_, columns_ : ndarray of bool, of shape (K, n_rows) and (K, n_cols)
        The same as masks.
    output_ : str
        What the program printed, on standard output and then on standard error.

    Raises
    ------
    CommandError
        If the program cannot be started, ends with a code other than 0, breaks a limit, or writes no file or one that
        cannot be read. The message ends with its last lines.

    See Also
    --------
    make_estimator

    Examples
    --------
    >>> import sys
    >>> script = "import sys; print('bicluster,rows,cols\\\\nB1,r1 r2,c1', file=open(sys.argv[1], 'w'))"
    >>> model = CommandEstimator(f'{sys.executable} -c "{script}" {{out}}')
    >>> model.fit([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]).solution_[0].rows
    array([0, 1])
    """

    command: str = ""
    n_biclusters: int | str = 5
    _: KW_ONLY
    program: str = ""
    matrix: Literal["tsv", "csv", "numbers", "npy", "mtx"] = "csv"
    result: str | None = None
    format: str | None = None
    index_base: int | None = None
    nothing: str | None = None
    environment: Mapping[str, str] | None = None
    missing: Literal["raise", "omit"] = "raise"
    time_limit: Amount | None = None
    memory_limit: Amount | None = None

    @property
    def record(self) -> Algorithm:  # type: ignore[override]
        """What is known about the command: whether it is told the number of biclusters.

        Examples
        --------
        >>> CommandEstimator("find-blocks {matrix} {out}").record.finds_k
        True
        """
        words = "cmd", "Command", "Command", "A program outside bivaluate.", f"{__name__}:CommandEstimator", (), ""
        return Algorithm(*words, finds_k="{k}" not in self.command, missing=True)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        words = self._words(dict.fromkeys(PLACES, "1") | {"matrix": _Place(_known_style), "program": self.program})
        if shutil.which(words[0]) is None:
            where = "its path in the command, or program=/path/to/it for a recipe"
            raise ParameterError(f"there is no program {words[0]!r}. Install it, or say where it is: {where}.")
        if "{out}" not in self.command and self.result is None:
            how = (
                "add {out}, the path of a file or folder to be made, or {out}/found.csv, a file in a folder that exists"
            )
            raise ParameterError(f"the command {self.command!r} does not say where to write: {how}.")

    def _words(self, places: Mapping[str, Any]) -> list[str]:
        """Return the words of the command with its placeholders filled in; each stays one word, whatever it holds."""
        try:
            words = shlex.split(self.command)
        except ValueError as error:
            raise ParameterError(f"the command {self.command!r} cannot be split into words: {error}.") from None
        if not words:
            raise ParameterError("the command is empty; for example 'mytool --input {matrix} --output {out}'.")
        if "{program}" in self.command and not self.program:
            how = "program=/path/to/it"
            raise ParameterError(f"the command {self.command!r} needs to know where its program is: {how}.")
        try:
            return [word.format_map(places) for word in words]
        except BivaluateError:
            raise
        except (KeyError, IndexError, ValueError) as error:
            known = f"Known: {', '.join(f'{{{place}}}' for place in PLACES)}; write any other brace twice."
            found = f"the command {self.command!r} has a placeholder that cannot be filled in: {error}"
            raise ParameterError(f"{found}. {known}") from None

    def _find(self, X: Values) -> Iterator[Pair]:
        with tempfile.TemporaryDirectory(prefix="bivaluate-command-") as temporary:
            folder = Path(temporary)
            if re.search(r"{out}[/\\]", self.command) or "{out}" not in self.command:
                (folder / "out").mkdir()
            seed = self.random_state
            if not isinstance(seed, (int, np.integer)):
                seed = check_random_state(seed).randint(2**31)
            n, m = X.shape
            named = Matrix(X, tuple(f"r{i + 1}" for i in range(n)), tuple(f"c{j + 1}" for j in range(m)))
            places = {
                "program": self.program,
                "matrix": _Place(lambda style: str(_write(named, folder, style or self.matrix))),
                "out": str(folder / "out"),
                "k": str(self.n_biclusters),
                "seed": str(seed),
                "rows": str(n),
                "cols": str(m),
            }
            words = self._words(places)
            before = {path for path in folder.rglob("*") if path.is_file()}
            self._run(words)
            found = self._read(named, folder, before, Path(words[0]).name)
        yield from ((bicluster.rows, bicluster.cols) for bicluster in found)

    def _run(self, words: list[str]) -> None:
        """Run the command and wait for it; whatever goes wrong is an error with its last lines."""
        name = Path(words[0]).name
        environment = {key: value for key, value in os.environ.items() if key not in OURS}
        with tempfile.TemporaryDirectory(prefix="bivaluate-output-") as temporary:
            files = [str(Path(temporary, stream)) for stream in ("stdout", "stderr")]
            request = {
                "command": words,
                "folder": os.getcwd(),
                "environment": environment | {key: str(value) for key, value in (self.environment or {}).items()},
                "stdout": files[0],
                "stderr": files[1],
                "seconds": self.time_limit,
                "bytes": None if self.memory_limit is None else 1e6 * self.memory_limit,
            }
            call, pipe = [sys.executable, "-I", _supervise.__file__], subprocess.PIPE
            supervisor = subprocess.Popen(call, stdin=pipe, stdout=pipe, text=True)
            try:
                answer, _ = supervisor.communicate(json.dumps(request))
            except BaseException:
                supervisor.terminate()
                supervisor.wait()
                raise
            written = (Path(file) for file in files)
            texts = [path.read_text(encoding="utf-8", errors="replace") if path.is_file() else "" for path in written]
        self.output_ = "".join(texts)
        ended = json.loads(answer or '{"error": "its supervisor was stopped"}')
        said = _last_lines(texts[1] if texts[1].strip() else texts[0])
        if "error" in ended:
            raise CommandError(f"{name} could not be started: {ended['error']}.")
        if ended.get("broken") == "seconds":
            raise CommandTimeoutError(f"{name} was stopped at its limit of {self.time_limit:g} s. {said}")
        if ended.get("broken") == "bytes":
            raise CommandError(f"{name} was stopped at its limit of {self.memory_limit:g} MB of memory. {said}")
        if ended["code"]:
            how = f"with code {ended['code']}" if ended["code"] > 0 else f"by signal {-ended['code']}"
            if "No such file or dir" in said and "bivaluate-command-" in said:
                said += " ({out} is a path to be made, {out}/ a folder that exists.)"
            raise CommandError(f"{name} ended {how}. {said}")

    def _read(self, named: Matrix, folder: Path, before: set[Path], name: str) -> Biclustering:
        """Return the biclusters of the file the command wrote."""
        from bivaluate.io.solutions import is_solution, read_solution

        said = _last_lines(self.output_)
        pattern = self.result or "**/*"
        written = [path for path in sorted(folder.glob(pattern)) if path.is_file() and path not in before]
        if self.result is None and not self.format and len(written) > 1:
            written = [path for path in written if is_solution(path)] or written
        if self.nothing is not None and re.search(self.nothing, self.output_, re.MULTILINE):
            return Biclustering([], named.shape)
        names = listing([str(path.relative_to(folder)) for path in written])
        if not written:
            where = f" like {pattern}" if self.result else " to {out}"
            raise CommandError(f"{name} wrote no file{where}. {said}")
        if len(written) > 1:
            which = Option(python="result='…'", command="--param result=…")
            raise CommandError(Advice(f"{name} wrote {plural(len(written), 'file')}: {names}. Say which: ", which, "."))
        try:
            return read_solution(written[0], named, format=self.format, index_base=self.index_base)
        except BivaluateError as error:
            reason = error.args[0] if isinstance(error.args[0], Advice) else Advice(str(error))
            apart = "\n" if "\n" in reason else " "  # after an example, on a line of its own
            parts = [
                replace(part, python=f"the parameter {part}", command=f"--param {part}")
                if isinstance(part, Option)
                else type(part)(part.replace(f"{folder}/", ""))
                for part in reason.parts
            ]
            raise CommandError(Advice(f"{name} wrote {names}, which cannot be read: ", *parts, apart + said)) from error


@dataclass(frozen=True)
class _Place:
    """What stands for ``{matrix}``: the file is written when the command asks for it, in the format after the colon."""

    write: Callable[[str], str]

    def __format__(self, style: str) -> str:
        return self.write(style)


def _known_style(style: str) -> str:
    return style and str(check_choice("{matrix:…}", style, MATRICES))


def style_of(path: str | os.PathLike[str]) -> str:
    """Return the format in which a command gets the matrix of a file: that of the file, or else CSV.

    >>> style_of("data.tsv"), style_of("cells.h5ad")
    ('tsv', 'csv')
    """
    ending = Path(path).suffix.removeprefix(".").lower()
    return ending if ending in MATRICES else "csv"


def _write(named: Matrix, folder: Path, style: str) -> Path:
    """Write the matrix; tables have a name in their corner, because some programs count the names of the header."""
    if style in ("tsv", "csv"):
        path = folder / f"matrix.{style}"
        named.to_frame().to_csv(path, sep="\t" if style == "tsv" else ",", index_label="id", na_rep="NA")
        return path
    from bivaluate.io import write_matrix

    path = folder / f"matrix.{style if style in ('npy', 'mtx') else 'txt'}"
    write_matrix(named.values, path)
    return path


def _last_lines(text: str) -> str:
    """Return the last lines of what a program said, for the end of a message."""
    lines = [line.strip() for line in text.splitlines() if line.strip()][-LAST_LINES:]
    said = " | ".join(lines)
    said = said if len(said) <= LAST_CHARACTERS else f"… {said[-LAST_CHARACTERS:]}"
    return f"Its last lines: {said}" if said else "It printed nothing."


def read_recipe(name: str) -> dict[str, Any]:
    """Return the parameters of a command from a recipe."""
    if name.endswith(".toml"):
        try:
            text = Path(name).read_text(encoding="utf-8")
        except OSError as error:
            raise FileError(f"cannot read the recipe {name}: {error.strerror or error}.") from error
    elif name in (ready := recipes()):
        text = (resources.files("bivaluate.algorithms") / "recipes" / f"{name}.toml").read_text(encoding="utf-8")
    else:
        allowed = f"ready: {', '.join(ready)}, or the path of a .toml file.{suggest(name, ready)}"
        raise ParameterError(f"there is no recipe {name!r}; {allowed}")
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise FormatError(f"the recipe {name} is not valid TOML: {error}.") from None
    known = [key for key in CommandEstimator().get_params() if key not in ("n_biclusters", "random_state")]
    for key in content:
        if key not in known:
            allowed = f"allowed: {', '.join(known)}.{suggest(key, known)}"
            raise FormatError(f"the recipe {name}: {key!r} is not part of a recipe; {allowed}")
    if not isinstance(content.get("command"), str):
        example = "for example command = 'mytool {matrix} {out}'"
        raise FormatError(f'the recipe {name}: "command" is missing; {example}.')
    return content
