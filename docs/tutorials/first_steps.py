# %% [markdown]
# # First steps: are these biclusters any good?
#
# A matrix of 200 genes and 30 conditions, and five biclusters that some tool made of it. Three are real, one repeats another,
# one is noise. Which is which?

# %%
import bivaluate
from bivaluate.datasets import load_example

X, solution = load_example()
result = bivaluate.evaluate(X, solution)
print(result.verdict)

# %% [markdown]
# The findings say why, and name the biclusters.

# %%
print(*result.findings, sep="\n")

# %% [markdown]
# One row per bicluster. *Evidence* is what a bicluster saves in describing the matrix, in nats, under the kind of pattern that
# fits it best; only a positive number pays.

# %%
result.biclusters[["bicluster", "n_rows", "n_cols", "evidence", "kind", "ve", "nve_k"]].round(2)

# %%
from bivaluate import plots

plots.plot_evidence(result.biclusters).figure

# %% [markdown]
# Dropping and merging what does not earn its place leaves the three real ones.

# %%
pruned = bivaluate.propose_pruning(X, solution)
print(bivaluate.evaluate(X, pruned.solution).verdict)
bivaluate.evaluate(X, pruned.solution).plot().figure

# %% [markdown]
# And without any biclusters to begin with:

# %%
from bivaluate.algorithms import CoherentSubmatrices

found = CoherentSubmatrices(random_state=0).fit(X)
print(found.solution_, found.kinds_)
assert len(found.solution_) == 3
