# %% [markdown]
# # First steps: are these biclusters any good?
#
# A matrix of 200 genes and 30 conditions, and five biclusters that some tool made of it. Three were planted, one is a copy,
# one is noise. Which is which?

# %%
import bivaluate
from bivaluate.datasets import load_example

X, solution = load_example()
result = bivaluate.evaluate(X, solution)
result

# %% [markdown]
# That is the record that the command line prints and the page shows: `result.verdict`. What a careful reader would add:

# %%
print(*result.verdict.notes, sep="\n")

# %% [markdown]
# One row per bicluster. *Evidence* says how much better a bicluster's pattern explains its values than noise does; above 0 a
# bicluster is supported. *Inside* and *elsewhere* are the means of its values and of the same genes under the other conditions.

# %%
result.biclusters[
    ["bicluster", "verdict", "evidence", "pattern", "mean_inside", "mean_elsewhere", "ve", "nve_k"]
].round(2)

# %%
from bivaluate import plots

plots.plot_evidence(result.biclusters).figure

# %% [markdown]
# Without what is redundant or not supported, the three are left.

# %%
pruned = bivaluate.propose_pruning(X, solution)
print(bivaluate.evaluate(X, pruned.solution).verdict)
bivaluate.evaluate(X, pruned.solution).plot().figure

# %% [markdown]
# And without any biclusters to begin with:

# %%
found = bivaluate.find(X, algorithms=["coherent", "las"])  # without `algorithms`: all that fit the data
print(found.verdict)
found.evaluation
