"""Solutions written for a matrix whose labels repeat are read for it again: positions and labels agree."""

import numpy as np
import pytest

from bivaluate import Biclustering, Matrix, SolutionError, read_solution
from bivaluate.io import write_solution


def test_positions_that_agree_with_their_labels_are_taken(tmp_path):
    X = Matrix(np.arange(12.0).reshape(3, 4), ("a", "b", "c"), ("EWS", "EWS", "BL", "BL"))
    solution = Biclustering([([0, 2], [1, 3])], X.shape)
    path = tmp_path / "solution.json"
    write_solution(solution, path, X=X)
    assert read_solution(path, X) == solution
    other = Matrix(X.values, ("c", "b", "a"), X.col_labels)
    with pytest.raises(SolutionError, match=r"a label .* has 2 times"):
        read_solution(path, other)
    turned = Matrix(X.values, ("c", "b", "a"), ("s1", "s2", "s3", "s4"))
    with pytest.raises(SolutionError, match="none of its 2 column labels is in X"):
        read_solution(path, turned)
