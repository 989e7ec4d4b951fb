"""Data by name, wherever a file may stand: ``example:``, ``scenario:S1``, ``yeast:04_elutriation``, …"""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bivaluate._errors import FileError, ParameterError, suggest
from bivaluate.datasets.catalogue import DATASETS

if TYPE_CHECKING:
    from bivaluate.matrix import Matrix
    from bivaluate.solution import Biclustering

EXAMPLE, SCENARIO = "example:", "scenario:"


def is_name(text: str) -> bool:
    """Return whether a text names data rather than a file.

    >>> is_name("scenario:S1"), is_name("example:"), is_name("yeast:nosuch"), is_name("C:/data/matrix.csv")
    (True, True, True, False)
    """
    prefix, colon, _ = text.partition(":")
    kinds = {EXAMPLE[:-1], SCENARIO[:-1], *(key.partition(":")[0] for key in DATASETS if ":" in key)}
    return text in DATASETS or bool(colon and prefix in kinds)


def expand_name(name: str) -> Sequence[str]:
    """Return the data a name or a pattern such as ``yeast:*`` stands for.

    >>> expand_name("scenario:S9?")
    ['scenario:S9a', 'scenario:S9b']
    """
    if not is_name(name):
        kinds = "a file, example:, scenario:S1, scenario:*, yeast:04_elutriation or yeast:*"
        how = "'bivaluate datasets' and 'bivaluate datasets scenarios' list them."
        raise FileError(f"there is no file {name!r}. A data set is {kinds}; {how}")
    from bivaluate.datasets.scenarios import SCENARIOS

    known = [EXAMPLE, *(f"{SCENARIO}{key}" for key in SCENARIOS), *DATASETS]
    near = [key for key in known if key.partition(":")[0] == name.partition(":")[0]]
    some = ", ".join(near[:20]) + (" …" if len(near) > 20 else "")
    if any(mark in name for mark in "*?["):
        found = [key for key in known if fnmatch.fnmatchcase(key, name)]
        if not found:
            raise ParameterError(f"{name} does not match any data set; known: {some}.")
        return found
    if name not in known:
        raise ParameterError(f"there is no data set {name!r}.{suggest(name, known)} Known: {some}.")
    return [name]


def load_named(name: str, seed: int = 0) -> tuple[Matrix, Biclustering | None]:
    """Return the matrix of a name, and the biclusters that belong to it where there are some.

    `seed` is that of a scenario.

    >>> X, truth = load_named("scenario:S1")
    >>> X.shape, X.name, len(truth)
    ((300, 40), 'scenario:S1', 4)
    """
    from bivaluate.datasets.example import load_example
    from bivaluate.datasets.real import load
    from bivaluate.datasets.scenarios import make_scenario
    from bivaluate.matrix import Matrix

    found, *others = expand_name(name)
    if others:
        raise ParameterError(f"{name} stands for {1 + len(others)} data sets, and one is needed here: {found}, say.")
    if found == EXAMPLE:
        return load_example()
    if found.startswith(SCENARIO):
        values, truth, _ = make_scenario(found.removeprefix(SCENARIO), random_state=seed)
        return Matrix.of(values, name=found), truth
    return load(found), None
