"""What every example of a docstring may use without saying so (docs/api.md says it once)."""

import numpy as np
import pandas as pd
import pytest

import bivaluate


@pytest.fixture(autouse=True)
def shared_names(doctest_namespace):
    """Give examples NumPy, pandas, the public names, and one small matrix with three biclusters."""
    doctest_namespace.update(
        {name: getattr(bivaluate, name) for name in bivaluate.__all__ if not name.startswith("__")}
    )
    X = np.array([[1, 2, 4, 3, 0, 5], [2, 3, 5, 4.5, 1, 2], [2, 5, 8, 7, 3, 1], [6, 1, 2, 4, 1, 3], [3, 7, 1, 6, 4, 5]])
    S = bivaluate.Biclustering([([0, 1, 2], [0, 1, 2, 3]), ([3, 4], [2, 3, 4, 5]), ([1, 2, 3], [0, 1])], X.shape)
    doctest_namespace.update(np=np, pd=pd, X=X, S=S)


@pytest.fixture(autouse=True)
def own_folder(request, monkeypatch):
    """Let every example write to a folder of its own."""
    if isinstance(request.node, pytest.DoctestItem):
        monkeypatch.chdir(request.getfixturevalue("tmp_path"))


@pytest.fixture(autouse=True)
def shared_results(request, doctest_namespace):
    """Give examples of result classes one result each to speak about; docstrings of the classes make them."""
    made = {
        "load.py": "example_run",
        "select.py": "example_run",
        "find.py": "example_found",
        "search.py": "example_choice",
    }
    if request.path.parent.name == "sweep" and request.path.name in made:
        doctest_namespace.update(request.getfixturevalue(made[request.path.name]))


@pytest.fixture(scope="session")
def example_run():
    """Return a small run, and what is chosen from it."""
    from bivaluate.sweep.select import select

    plan = bivaluate.Plan("scenario:S9b", "cca", k=[2, 3], null="permute", null_runs=2)
    run = bivaluate.Sweep(plan).run()
    return {"run": run, "selection": select(run, by="asr")}


@pytest.fixture(scope="session")
def example_found():
    """Return what `find` says of one block in noise."""
    X = np.random.default_rng(0).normal(size=(40, 20))
    X[:12, :6] += 3
    return {"found": bivaluate.find(X, algorithms="las")}


@pytest.fixture(scope="session")
def example_choice():
    """Return the K that `select_k` chooses for a checkerboard."""
    from sklearn.cluster import SpectralBiclustering

    X = np.random.default_rng(0).normal(size=(30, 20)) + 5
    return {"choice": bivaluate.select_k(SpectralBiclustering(random_state=0), X, k=[2, 3], scoring="asr")}
