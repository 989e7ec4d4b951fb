# %% [markdown]
# # How many programs? Choosing K for NMF
#
# Factors of a non-negative matrix factorisation are soft biclusters: the genes and the cells that load on one factor. So the
# question "which K?" can be put to them.

# %%
import bivaluate
from bivaluate import Biclustering
from bivaluate.datasets import make_biclusters
from sklearn.decomposition import NMF

X, truth, _ = make_biclusters(
    (150, 40), [{"rows": 40, "cols": 12}, {"rows": 30, "cols": 10}, {"rows": 35, "cols": 10}], random_state=3
)
X = abs(X) * 0.4
for rows, cols in truth:
    X[rows[:, None], cols] += 2.0

rows = []
for k in (2, 3, 4, 5, 6):
    model = NMF(k, random_state=0, max_iter=800).fit(X)
    solution = Biclustering.from_factors(model.transform(X), model.components_)
    scores = bivaluate.evaluate(X, solution).scores
    rows.append((k, len(solution), scores["n_paying"], round(scores["total_evidence"], 1), round(scores["nve_cov"], 3)))

import pandas as pd

curve = pd.DataFrame(rows, columns=["K", "biclusters", "paying", "evidence", "NVE_cov"])
curve

# %% [markdown]
# Three were planted. The evidence is largest where K is right: more factors split what belongs together, and naming them costs.

# %%
best = int(curve.loc[curve["evidence"].idxmax(), "K"])
print("K =", best)
