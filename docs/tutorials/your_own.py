# %% [markdown]
# # Your own algorithm, your own measure
#
# An algorithm is any scikit-learn style estimator with `rows_` and `columns_`; a measure is any function of a matrix and a
# solution. Both can be judged beside those that come with bivaluate.

# %%
import bivaluate
import numpy as np
from bivaluate.datasets import load_example
from sklearn.base import BaseEstimator


class TopCorner(BaseEstimator):
    """The rows and columns with the largest means: a baseline that ought to lose."""

    def __init__(self, n_biclusters=1):
        self.n_biclusters = n_biclusters

    def fit(self, X, y=None):
        values = np.asarray(X)
        rows, cols = (values.mean(axis=axis) > np.quantile(values.mean(axis=axis), 0.8) for axis in (1, 0))
        self.rows_, self.columns_ = rows[None, :], cols[None, :]
        return self


X, solution = load_example()
print("mine: ", bivaluate.evaluate(X, TopCorner().fit(X.values)).verdict.headline)
print("given:", bivaluate.evaluate(X, solution).verdict.headline)

# %% [markdown]
# A measure of your own, asked the only question that matters: does it prefer the real biclusters to random ones of their sizes?


# %%
def flatness(X, solution):
    """Mean standard deviation inside the biclusters: low is better."""
    return float(np.mean([b.of(X).std() for b in solution]))


rng = np.random.default_rng(0)
real = solution.select([0, 1, 2])
shapes = [b.shape for b in real]
random = bivaluate.Biclustering([(rng.choice(200, r, False), rng.choice(30, c, False)) for r, c in shapes], X.shape)
print("real  ", round(flatness(X.values, real), 2), "random", round(flatness(X.values, random), 2))
print("evidence: real", round(bivaluate.evaluate(X, real).scores["total_evidence"]), end=", ")
print("random", round(bivaluate.evaluate(X, random).scores["total_evidence"]))
