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
