"""Write a scenario to files: matrix, planted solution, recipe."""

from __future__ import annotations

import json
import os
from pathlib import Path

from bivaluate._errors import FileError
from bivaluate.datasets.scenarios import make_scenario
from bivaluate.matrix import Matrix


def write_scenario(name: str, random_state: int, folder: str | os.PathLike[str]) -> list[Path]:
    """Write ``S1_seed0.csv``, ``S1_seed0.truth.json`` and ``S1_seed0.recipe.json``; return their paths.

    Numbers are written in full, so reading the matrix gives back the same values.
    """
    from bivaluate.io import write_matrix

    X, truth, description = make_scenario(name, random_state)
    stem = f"{description.scenario.id}_seed{description.random_state}"
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot make the folder {target}: {error.strerror or error}.") from error
    rows = tuple(f"r{i + 1}" for i in range(X.shape[0]))
    cols = tuple(f"c{j + 1}" for j in range(X.shape[1]))
    paths = [target / f"{stem}{ending}" for ending in (".csv", ".truth.json", ".recipe.json")]
    write_matrix(Matrix(X, rows, cols, stem), paths[0])
    truth.with_info(scenario=description.scenario.id, random_state=description.random_state).to_json(paths[1])
    recipe = {"scenario": str(description), "make_biclusters": description.recipe}
    try:
        paths[2].write_text(json.dumps(recipe, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise FileError(f"cannot write {paths[2]}: {error.strerror or error}.") from error
    return paths
