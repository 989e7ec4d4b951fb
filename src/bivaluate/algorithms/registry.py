"""One record per algorithm, and what else may be named as one: a class of your own, a command, a recipe.

A new algorithm is one new file in this folder with ``@algorithm(...)`` on its class; it is found there.
"""

from __future__ import annotations

import ast
import fnmatch
import inspect
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from bivaluate._errors import ParameterError, suggest
from bivaluate._text import FINAL, alternatives
from bivaluate.algorithms.algorithm import COUNTS, OLD_KEYS, Algorithm, count_among

_DECORATED = re.compile(r"^@algorithm\((.*?)\)\n+class (\w+)", re.MULTILINE | re.DOTALL)


def _records() -> Iterator[Algorithm]:
    """Yield the record of every decorated class of this folder, as it is written there: nothing is imported."""
    for file in sorted(Path(__file__).parent.glob("[!_]*.py")):
        for words, name in _DECORATED.findall(file.read_text(encoding="utf-8")):
            call = ast.parse(f"algorithm({words})", mode="eval").body
            assert isinstance(call, ast.Call)
            key, full, label, summary = (ast.literal_eval(word) for word in call.args)
            traits = {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
            yield Algorithm(key, full, label, summary, f"bivaluate.algorithms.{file.stem}:{name}", **traits)


COMMAND, RECIPE = "cmd:", "recipe:"
ALGORITHMS: dict[str, Algorithm] = {record.key: record for record in sorted(_records(), key=lambda r: r.key)}


def recipes() -> list[str]:
    """Return the names of the ready recipes."""
    return sorted(file.stem for file in (Path(__file__).parent / "recipes").glob("*.toml"))


def current_key(key: str) -> str:
    """Return the key of today for a key of an earlier version, or in capitals."""
    known = key if ":" in key else key.lower()
    return OLD_KEYS.get(key, known if known in ALGORITHMS else key)


def split_name(word: str) -> tuple[str, str]:
    """Return the name a user gave to a command, recipe or class, and what it stands for."""
    name, _, rest = word.partition("=")
    return (name.strip(), rest.strip()) if ":" in rest and ":" not in name else ("", word)


def get_algorithm(key: str) -> Algorithm:
    """Return the record of an algorithm.

    Parameters
    ----------
    key : str
        Key of the registry.

    Returns
    -------
    Algorithm
        Its record.

    Raises
    ------
    ParameterError
        If there is no such algorithm.

    See Also
    --------
    choose_algorithms, make_estimator

    Examples
    --------
    >>> get_algorithm("las").name
    'Large Average Submatrices'
    """
    key = current_key(key)
    if key not in ALGORITHMS:
        raise ParameterError(
            f"there is no algorithm {key!r}.{suggest(key, ALGORITHMS)} `bivaluate algorithms` lists all of them."
        )
    return ALGORITHMS[key]


def choose_algorithms(words: Iterable[str]) -> dict[str, bool]:
    """Return the algorithms that words stand for, and whether each was named itself rather than by a pattern.

    Parameters
    ----------
    words : iterable of str
        Keys, ``"all"``, patterns such as ``"spectral*"``, ``package.module:Class``, ``cmd:…`` and ``recipe:…``; the
        last three may have a name, ``mine=cmd:…``.

    Returns
    -------
    dict of str to bool
        By key, in the order of the words and of the registry.

    Raises
    ------
    ParameterError
        If a pattern matches nothing, or two algorithms have one name. Keys are not looked up.

    See Also
    --------
    get_algorithm

    Examples
    --------
    >>> choose_algorithms(["las", "spectral*"])
    {'las': True, 'spectral': False, 'spectral_co': False}
    """
    chosen: dict[str, bool] = {}
    for word in words:
        if word != "all" and (":" in word or not any(mark in word for mark in "*?[")):
            chosen[current_key(word)] = True
            continue
        matching = [key for key in ALGORITHMS if word == "all" or fnmatch.fnmatchcase(key, word)]
        if not matching:
            raise ParameterError(f"{word!r} matches no algorithm. `bivaluate algorithms` lists all of them.")
        chosen |= {key: chosen.get(key, False) for key in matching}
    names = [name for name, _ in map(split_name, chosen) if name]
    for name in names:
        if name in ALGORITHMS or names.count(name) > 1:
            whose = "is an algorithm of bivaluate" if name in ALGORITHMS else "names two algorithms"
            raise ParameterError(f"{name!r} {whose}; choose another name before the equals sign.")
    return chosen


def algorithm_label(key: str) -> str:
    """Return the short name of an algorithm as figures, pages and sentences show it."""
    name, key = split_name(key)
    if name:
        return name
    if key.startswith(RECIPE):
        return Path(key.removeprefix(RECIPE)).name.removesuffix(".toml")
    if key.startswith(COMMAND):
        words = shlex.split(key.removeprefix(COMMAND))
        return " ".join([Path(words[0]).name, *(word for word in words[1:] if "{" not in word)]) if words else key
    if key.endswith(FINAL):
        return f"{algorithm_label(key.removesuffix(FINAL))} (refined)"
    return ALGORITHMS[key].label if key in ALGORITHMS else key


def estimator_of(key: str) -> tuple[Any, dict[str, Any]]:
    """Return the class an algorithm's name stands for, and the parameters that come with the name."""
    key = split_name(key)[1]
    if is_command(key):
        from bivaluate.algorithms.command import CommandEstimator, read_recipe

        if key.startswith(RECIPE):
            return CommandEstimator, read_recipe(key.removeprefix(RECIPE))
        return CommandEstimator, {"command": key.removeprefix(COMMAND)}
    if ":" not in key:
        return get_algorithm(key).estimator, {}
    from bivaluate._check import import_own

    cls = import_own("algorithm", key)
    accepted = inspect.signature(cls).parameters
    if not count_among(accepted) or not hasattr(cls, "fit"):
        raise ParameterError(f"{key!r} is not an estimator with fit(X) and a parameter {alternatives(COUNTS)}.")
    return cls, {}


def is_command(key: str) -> bool:
    """Return whether the name of an algorithm stands for a program outside bivaluate."""
    return split_name(key)[1].startswith((COMMAND, RECIPE))


def is_nested(key: str) -> bool:
    """Return whether the first k biclusters found for K are those found for k; a class says ``nested = True``."""
    return _trait(key, "nested")


def finds_k(key: str) -> bool:
    """Return whether the algorithm finds the number of biclusters itself; then the number asked for is an upper bound.

    A class of your own says so with a class attribute ``finds_k = True``, a command by not asking for ``{k}``.
    """
    return _trait(key, "finds_k")


def _trait(key: str, name: str) -> bool:
    key = key.removesuffix(FINAL)
    if key in ALGORITHMS:
        return bool(getattr(ALGORITHMS[key], name))
    from bivaluate.algorithms._estimator import BiclusteringEstimator

    cls, settled = estimator_of(key)
    own = getattr(cls, name, None)
    if own is None and issubclass(cls, BiclusteringEstimator):
        own = getattr(cls(**settled).record, name)
    return bool(own)


def parameters_of(key: str) -> dict[str, Any]:
    """Return the parameters of an algorithm with their defaults, without those every algorithm has."""
    defaults = get_algorithm(key).estimator().get_params(deep=False)
    return {name: value for name, value in defaults.items() if name not in ("n_biclusters", "random_state")}


def accepted_by(key: str, cls: Any, names: Iterable[str]) -> tuple[Mapping[str, inspect.Parameter], str]:
    """Return the parameters of an estimator and the one that counts biclusters; raise if it does not have these."""
    accepted = inspect.signature(cls).parameters
    count = count_among(accepted)
    known = [name for name in accepted if name not in (count, "random_state")]
    open_ended = any(parameter.kind is parameter.VAR_KEYWORD for parameter in accepted.values())
    for name in () if open_ended else names:
        if name not in accepted:
            has = f"it has: {', '.join(known)}.{suggest(name, known)}"
            raise ParameterError(f"algorithm {key} has no parameter {name!r}; {has}")
    return accepted, count


def make_estimator(key: str, n_biclusters: int | str, random_state: Any = None, **parameters: Any) -> Any:
    """Return an unfitted estimator.

    Parameters
    ----------
    key : str
        Key of the registry, or what else :func:`estimator_of` understands.
    n_biclusters : int or "auto"
        Number of biclusters to find; "auto" for an algorithm that finds it itself.
    random_state : int, RandomState or None, default=None
        Source of randomness, where the estimator has one.
    **parameters : object
        Further parameters of the estimator; :func:`parameters_of` lists them.

    Returns
    -------
    estimator
        An estimator with ``fit(X)`` and, once fitted, ``solution_`` (a class of your own: or ``rows_``, ``columns_``).

    Raises
    ------
    ParameterError
        If there is no such algorithm, or it has no such parameter.

    See Also
    --------
    get_algorithm

    Examples
    --------
    >>> make_estimator("cca", 5, random_state=1, max_residue=0.5)
    ChengChurch(max_residue=0.5, n_biclusters=5, random_state=1)
    """
    cls, settled = estimator_of(key)
    accepted, count = accepted_by(key, cls, parameters)
    seed = {"random_state": random_state} if "random_state" in accepted else {}
    return cls(**{**seed, **settled, **parameters, count: n_biclusters})
