"""What a sweep runs: data sets x algorithms x K x seeds, and how the solutions are scored."""

from __future__ import annotations

import json
import os
import tomllib
import types
import typing
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ClassVar, Literal

from bivaluate._check import check_choice, check_int, check_real, in_short
from bivaluate._errors import FileError, FormatError, ParameterError, RunError, SearchWarning, suggest
from bivaluate._text import listing
from bivaluate.algorithms.algorithm import count_among
from bivaluate.sweep.cells import NULLS
from bivaluate.sweep.portfolio import AUTO, PORTFOLIO

PLANTED = "planted"
NONE = "none"
LARGEST_SEED = 2**32 - 1
REMOVED = ("perturb", "perturb_runs")  # of version 0.1.0, left out where old plans name them
SCORE_OPTIONS = ("degenerate", "missing", "min_rows", "min_cols", "small", "single", "exponent", "epsilon", "ve_axis")


@dataclass(frozen=True)
class Plan:
    """Everything that decides the result tables of a sweep; it is checked when it is made.

    Parameters
    ----------
    datasets, algorithms : str or sequence of str
        File paths, ``scenario:S1``, ``yeast:*``; keys of algorithms, ``all``, ``spectral*``, ``package.module:Class``,
        estimators (K and seeds are the plan's), ``cmd:`` and a command line, ``recipe:`` and a recipe. ``"auto"``, the
        default, takes those that fit the data.
    k : int, sequence of int, "planted" or "auto"
        Numbers of biclusters to ask for; ``"planted"`` asks each scenario for as many as it holds. ``"auto"``, the
        default, is the plan of :func:`bivaluate.find`: a few K, more where evidence grows, the best refined.
    seeds, algorithm_seed : int or sequence of int, int or None
        How many seeds (10 means 0 to 9), or which: each draws a scenario's matrix and is the ``random_state`` of the
        algorithm, unless one is given for all.
    metrics : "default", "all" or sequence of str
        Keys of the measures to compute.
    parameters, score, read : mapping
        Keyword arguments of estimators by algorithm, of :func:`bivaluate.evaluate`, of :func:`bivaluate.read_matrix`.
    time_limit : float, optional
        Seconds a fit may take; no limit by default.
    null, null_runs : {"permute", "phase"} or None, int
        Repeat everything on surrogates, 19 of each matrix: rows permuted, or phase-randomised (for ordered columns).
    held_out, stability : int
        Folds of held-out cells to predict (2 to 10), and subsamples to search again; 0 for none.

    Raises
    ------
    ParameterError
        If a name is unknown or a value is not allowed.

    See Also
    --------
    Sweep

    Examples
    --------
    >>> Plan(datasets=["scenario:S1"], algorithms=["cca"], k=[3, 5], seeds=2).seeds
    (0, 1)
    """

    datasets: Sequence[str]
    algorithms: Sequence[str] = (AUTO,)
    k: int | Sequence[int] | Literal["planted", "auto"] = AUTO
    seeds: int | Sequence[int] = 1
    algorithm_seed: int | None = None
    metrics: str | Sequence[str] = "default"
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    score: Mapping[str, Any] = field(default_factory=dict)
    read: Mapping[str, Any] = field(default_factory=dict)
    time_limit: float | None = None
    null: str | None = None
    null_runs: int = 0
    held_out: int = 0
    stability: int = 0
    #: Those of the algorithms that "all" or a pattern brought; not part of the plan.
    by_pattern: ClassVar[frozenset[str]]

    def __post_init__(self) -> None:
        from bivaluate.algorithms.registry import choose_algorithms, current_key

        put = object.__setattr__
        put(self, "datasets", _words("datasets", self.datasets))
        given, own = _named(self.algorithms)
        words = _words("algorithms", given)
        chosen = choose_algorithms(word for word in words if word != AUTO)
        put(self, "algorithms", (*([AUTO] if AUTO in words else []), *chosen))
        put(self, "by_pattern", frozenset(key for key, named in chosen.items() if not named))
        k: Any = self.k
        seeds: Any = self.seeds
        if isinstance(k, str):
            check_choice("k", k, (PLANTED, AUTO))
        else:
            put(self, "k", _numbers("k", [k] if isinstance(k, Integral) else k, 1))
        seeds = range(check_int("seeds", seeds, 1)) if isinstance(seeds, Integral) else seeds
        put(self, "seeds", _numbers("seeds", seeds, 0))
        if self.algorithm_seed is not None:
            put(self, "algorithm_seed", check_int("algorithm_seed", self.algorithm_seed, 0, LARGEST_SEED))
        put(self, "metrics", _check_metrics(self.metrics))
        for name in ("parameters", "score", "read"):
            put(self, name, _check_table(name, getattr(self, name)))
        put(self, "parameters", {**own, **{current_key(key): value for key, value in self.parameters.items()}})
        known = [*(PORTFOLIO if AUTO in words else ()), *chosen]
        _check_known("parameters", self.parameters, known)
        for key in known:
            check_algorithm(key, _check_table(f"parameters of {key}", self.parameters.get(key, {})))
        _check_score(self.score)
        if self.time_limit is not None:
            put(self, "time_limit", check_real("time_limit", self.time_limit, 0.001))
        if self.held_out:
            check_int("held_out", self.held_out, 2, 10)
        check_int("stability", self.stability, 0)
        if self.null is None and self.null_runs:
            raise ParameterError(f"null_runs is {self.null_runs} but no null is named; allowed: {', '.join(NULLS)}.")
        if self.null is not None:
            check_choice("null", self.null, NULLS)
            put(self, "null_runs", check_int("null_runs", self.null_runs or 19, 1))

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain values, the same for equal plans.

        Returns
        -------
        dict
            Values by the names of the parameters.

        Examples
        --------
        >>> Plan("scenario:S1", "las", 3).to_dict()["k"]
        [3]
        """
        later = ("held_out", "stability")  # left out where 0, as in plans written before there were any
        values = {f.name: plain(getattr(self, f.name)) for f in fields(self)}
        return {name: value for name, value in values.items() if value or name not in later}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], where: str = "the plan") -> Plan:
        """Build a plan from plain values; unknown keys are refused.

        Parameters
        ----------
        content, where : mapping, str
            Values by the names of the parameters, and how messages name their source.

        Returns
        -------
        Plan
            The plan.

        Raises
        ------
        FormatError
            If a key is unknown or the data sets are missing.

        Examples
        --------
        >>> Plan.from_dict({"datasets": ["scenario:S1"], "algorithms": ["las"], "k": [3]}).k
        (3,)
        """
        known = [f.name for f in fields(cls)]
        if gone := [key for key in content if key in REMOVED]:
            text = f"{where}: {listing(gone)} of version 0.1.0 is no part of a plan any more."
            warnings.warn(text, SearchWarning, stacklevel=2)
        for key in [key for key in content if key not in (*known, *REMOVED)]:
            allowed = f"allowed: {', '.join(known)}.{suggest(key, known)}"
            raise FormatError(f"{where}: {key!r} is not part of a plan; {allowed}")
        if "datasets" not in content:
            raise FormatError(f'{where}: "datasets" is missing; for example datasets = ["matrix.tsv"].')
        return cls(**{key: value for key, value in content.items() if key in known})

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> Plan:
        """Read a plan; relative file paths in it are resolved against its folder.

        Parameters
        ----------
        path : str or path-like

        Returns
        -------
        Plan
            The plan.

        Raises
        ------
        FileError, FormatError
            If the file cannot be read, or is not a plan in TOML.

        Examples
        --------
        >>> Plan.from_toml("plan.toml")  # doctest: +SKIP
        """
        name = os.fspath(path)
        try:
            with open(path, "rb") as file:
                content = tomllib.load(file)
        except OSError as error:
            raise FileError(f"cannot read the plan {name}: {error.strerror or error}.") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise FormatError(f"{name} is not valid TOML: {error}.") from None
        content = _with_none(content)
        folder = Path(path).parent
        if isinstance(content.get("datasets"), list):
            content["datasets"] = [_beside(folder, word) for word in content["datasets"]]
        if isinstance(content.get("algorithms"), list):
            content["algorithms"] = [_beside(folder, word, "recipe:") for word in content["algorithms"]]
        return cls.from_dict(content, name)

    def to_toml(self) -> str:
        """Return the plan as the text of a TOML file that :meth:`from_toml` reads back.

        Returns
        -------
        str
            The text.

        Examples
        --------
        >>> print(Plan("scenario:S1", "las", 3).to_toml().splitlines()[0])
        datasets = ["scenario:S1"]
        """
        tables, lines = [], []
        for key, value in self.to_dict().items():
            if value is None or value in ({}, []) or (key.endswith("_runs") and not value):
                continue
            if not isinstance(value, dict):
                lines.append(f"{key} = {_toml(value)}")
                continue
            named = {f"{key}.{_toml(name)}": v for name, v in value.items()} if key == "parameters" else {key: value}
            for title, table in named.items():
                tables += [f"\n[{title}]", *(f"{name} = {_toml(v)}" for name, v in table.items())]
        return "\n".join(lines + tables) + "\n"


def stored_plan(content: Any, where: str = "the run") -> Plan:
    """Restore the plan of a run folder: it was checked when the run was made, perhaps on another machine."""
    from bivaluate.algorithms.registry import current_key

    if not isinstance(content, dict):
        raise RunError(f"the plan in {where} is damaged: it is no table of names and values.")
    allowed = typing.get_type_hints(Plan)
    for name, value in content.items():
        if value is not None and name not in REMOVED and not is_of_type(value, allowed.get(name, type(None))):
            raise RunError(f"the plan in {where} is damaged: {name} is {str(value)[:60]!r}.")
    if not content.get("datasets") or not content.get("algorithms"):
        raise RunError(f"the plan in {where} is damaged: it names no data set or no algorithm.")
    plan = object.__new__(Plan)
    values = {f.name: content.get(f.name, {} if f.default is MISSING else f.default) for f in fields(Plan)}
    values["algorithms"] = list(map(current_key, values["algorithms"]))
    values["parameters"] = {current_key(key): value for key, value in values["parameters"].items()}
    for name, value in {**values, "by_pattern": frozenset()}.items():
        object.__setattr__(plan, name, tuple(value) if isinstance(value, list) else value)
    return plan


def differences(plan: Plan, other: Plan) -> list[str]:
    """Say in words where `other` differs from a plan; measures that both have are not named."""
    mine, theirs = plan.to_dict(), other.to_dict()
    said = []
    for key in (key for key in mine | theirs if mine.get(key) != theirs.get(key)):
        here, there = mine.get(key), theirs.get(key)
        if key == "metrics" and isinstance(here, list) and isinstance(there, list):
            key = "metrics, where they differ,"
            here, there = [name for name in here if name not in there], [name for name in there if name not in here]
        said.append(f"{key} is {here!r} here and {there!r} there")
    return said


def check_algorithm(key: str, parameters: Mapping[str, Any]) -> None:
    """Raise if there is no such algorithm, or if it does not take these parameters and values."""
    from bivaluate.algorithms.registry import accepted_by, estimator_of

    cls, _ = estimator_of(key)
    accepted, count = accepted_by(key, cls, parameters)
    annotations = typing.get_type_hints(cls if is_dataclass(cls) else cls.__init__)
    reserved = {count, *(() if ":" in key else ("random_state",))} & accepted.keys()
    for name, value in parameters.items():
        if name in reserved:
            instead = "seeds (or algorithm_seed)" if name == "random_state" else "k"
            raise ParameterError(f"{key}.{name} cannot be set as a parameter; use {instead} of the plan.")
        allowed = annotations.get(name, Any)
        if not is_of_type(value, allowed):
            choices = [a for a in typing.get_args(allowed) if isinstance(a, str)]
            raise ParameterError(f"{key}.{name} is {value!r}; {_in_words(allowed)} is needed.{suggest(value, choices)}")


def is_of_type(value: Any, allowed: Any) -> bool:
    """Whether a value is of the annotated type; an annotation that is not understood allows everything."""
    origin, inside = typing.get_origin(allowed), typing.get_args(allowed)
    if isinstance(allowed, types.UnionType) or origin is typing.Union:
        return any(is_of_type(value, one) for one in inside)
    if origin is Literal:
        return value in inside
    if origin is Sequence:
        return isinstance(value, (list, tuple)) and all(is_of_type(item, inside[0]) for item in value)
    if origin is Mapping:
        return isinstance(value, Mapping)
    if allowed in (int, float):
        kind: Any = Integral if allowed is int else Real
        return isinstance(value, kind) and not isinstance(value, bool)
    if allowed is bool:
        return isinstance(value, bool) or type(value).__name__ == "bool"  # NumPy's
    return isinstance(value, allowed) if allowed in (str, type(None)) else True


def _in_words(allowed: Any) -> str:
    named = {int: "a whole number", float: "a number", bool: "true or false", str: "a text", type(None): "none"}
    if typing.get_origin(allowed) is Literal:
        return " or ".join(repr(choice) for choice in typing.get_args(allowed))
    return named.get(allowed) or " or ".join(_in_words(one) for one in typing.get_args(allowed))


def _beside(folder: Path, word: Any, prefix: str = "") -> Any:
    """Return a name with the file after the prefix resolved against the folder of the plan, if it is there."""
    file = folder / str(word).removeprefix(prefix)
    named = str(word).startswith(prefix) and (not prefix or file.suffix == ".toml")
    return f"{prefix}{file}" if named and os.path.exists(file) else word


def parse_assignments(option: str, texts: Iterable[str]) -> dict[str, Any]:
    """Return the values of ``NAME=VALUE`` texts as the command line gives them.

    Values are true, false, none, numbers, lists in brackets, or else text.
    """
    values = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals):
            raise ParameterError(f"{option} {text}: NAME=VALUE is needed, for example {option} n_restarts=200.")
        values[name] = _value(value)
    return values


def _value(text: str) -> Any:
    words = {"true": True, "false": False, NONE: None}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float, json.loads):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _named(algorithms: Any) -> tuple[Any, dict[str, dict[str, Any]]]:
    """Return algorithms by name, and the parameters of estimators among them that are not the defaults."""
    if isinstance(algorithms, str) or not isinstance(algorithms, Iterable):
        algorithms = [algorithms]
    words: list[Any] = []
    parameters: dict[str, dict[str, Any]] = {}
    for one in algorithms:
        cls = one if isinstance(one, type) else type(one)
        if not hasattr(cls, "fit"):
            words.append(one)
            continue
        words.append(getattr(getattr(cls, "record", None), "key", f"{cls.__module__}:{cls.__qualname__}"))
        if hasattr(one, "get_params") and one is not cls:
            params, usual = one.get_params(deep=False), cls().get_params(deep=False)
            usual |= {name: params[name] for name in (count_among(usual), "random_state") if name in params}
            parameters[words[-1]] = {name: params[name] for name in params if repr(params[name]) != repr(usual[name])}
    return words, parameters


def _words(name: str, value: Any) -> tuple[str, ...]:
    is_one = isinstance(value, (str, os.PathLike)) or not isinstance(value, Iterable) or getattr(value, "ndim", 1) > 1
    words = tuple(os.fspath(v) if isinstance(v, os.PathLike) else v for v in ([value] if is_one else value))
    for word in words:
        if not isinstance(word, str):
            how = " Write a matrix to a file with bivaluate.write_matrix and name the file; or call bivaluate.select_k."
            found = f"{name} needs names, found: {in_short(word)}."
            raise ParameterError(found + (how if name == "datasets" else ""))
    if not words or "" in words:
        raise ParameterError(f"{name} is {value!r}; at least one name is needed.")
    for word in words:
        if words.count(word) > 1:
            raise ParameterError(f"{name} names {word!r} more than once.")
    return words


def _numbers(name: str, values: Iterable[Any], minimum: int) -> tuple[int, ...]:
    numbers = {check_int(name, value, minimum, LARGEST_SEED) for value in values}
    if not numbers:
        raise ParameterError(f"{name} is empty; at least one number is needed.")
    return tuple(sorted(numbers))


def _check_metrics(metrics: Any) -> str | tuple[str, ...]:
    if isinstance(metrics, str) and metrics in ("default", "all"):
        return metrics
    from bivaluate.registry import get_metric

    keys = _words("metrics", metrics)
    for key in keys:
        get_metric(key)
    return keys


def _check_table(name: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise ParameterError(f"{name} is {value!r}; a table of names and values is needed.")
    return {str(key): value[key] for key in sorted(value)}


def _check_known(name: str, given: Iterable[str], known: Sequence[str]) -> None:
    for key in given:
        if key not in known:
            raise ParameterError(f"{name} names {key!r}; known here: {', '.join(known)}.{suggest(key, known)}")


def _check_score(score: Mapping[str, Any]) -> None:
    """Refuse now what :func:`bivaluate.evaluate` would refuse in every cell."""
    from bivaluate.measures.workspace import Options

    _check_known("score", score, SCORE_OPTIONS)
    sizes = {key: score[key] for key in ("min_rows", "min_cols") if key in score}
    for key, value in sizes.items():
        check_int(key, value, 1)
    check_choice("small", score.get("small", "flag"), ("flag", "drop"))
    Options(**{key: value for key, value in score.items() if key not in ("small", *sizes)})


def _with_none(value: Any) -> Any:
    """Return the content of a TOML file with None where it says "none", because TOML has no word for it."""
    if isinstance(value, dict):
        return {key: _with_none(v) for key, v in value.items()}
    return None if value == NONE else value


def plain(value: Any) -> Any:
    """Return a value with plain numbers instead of NumPy's and lists instead of tuples."""
    if isinstance(value, Mapping):
        return {key: plain(v) for key, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value.item() if hasattr(value, "item") else value


def _toml(value: Any) -> str:
    """Return a value as TOML writes it; for text, numbers, true/false and lists that is as JSON writes it."""
    value = NONE if value is None else value
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, (str, bool, int, list)):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    raise ParameterError(f"{value!r} cannot be written in a plan; use text, numbers, true/false or lists of them.")
