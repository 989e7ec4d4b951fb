# %% [markdown]
# # Do they hold in other data, and what are their samples?
#
# A bicluster that comes again in a second experiment is worth more than any score. Two series of yeast after a heat shock are
# such a pair: the genes are the same, the time points are not.

# %%
import bivaluate
import pandas as pd
from bivaluate import plots
from bivaluate.algorithms import SpectralCoclusters
from bivaluate.datasets import load, load_labelled

first, second = load("yeast:12_heat_shock_1"), load("yeast:13_heat_shock_2")
found = SpectralCoclusters(5, random_state=0).fit(first).solution_

# %% [markdown]
# `confirm` finds the rows of each bicluster in the second matrix by their names and asks whether they move together there, more
# than equally active genes do, and more than the genes that the same search finds in surrogates of the first series. The columns
# are points in time, so surrogates keep the smoothness of each gene.

# %%
confirmed = bivaluate.confirm(found, first, second, ordered=True)
print(confirmed.summary)
confirmed.biclusters[["bicluster", "n_rows", "shared_rows", "z", "p", "q", "verdict"]].round(3)

# %% [markdown]
# ## No second data set? Two halves
#
# Any matrix can be split. Here the search runs on every other cell of a blood sample, and its biclusters are judged in the cells
# it has not seen.

# %%
blood = load_labelled("pbmc68k")
search = SpectralCoclusters(6, random_state=0)
cells = bivaluate.Matrix(
    blood.matrix.values - blood.matrix.values.min(), blood.matrix.row_labels, blood.matrix.col_labels
)
halves = bivaluate.confirm(search.fit(cells).solution_, cells, halves="columns", surrogates=5)
print(halves.summary)
halves.biclusters[["bicluster", "n_rows", "nearest", "z", "q", "verdict"]].round(3)

# %% [markdown]
# ## What are the cells?
#
# `traits` tests every annotation of the samples against every bicluster. Of an AnnData object it takes `.obs` by itself; here the
# cell types come as a table. Columns named as technical (`technical=["batch"]`) make a bicluster doubtful.

# %%
types = pd.Series("other", index=cells.col_labels)
for name, mask in blood.col_classes.items():
    types[mask] = name
table = bivaluate.traits(search.solution_, cells, types.to_frame("cell type"))
table[["bicluster", "class", "inside", "outside", "effect", "q", "word"]].round(3)

# %%
plots.plot_traits(table).figure

# %% [markdown]
# On the command line: `bivaluate confirm found.json --found-in A.csv --in B.csv --ordered-columns`, with `--halves columns` in place
# of `--in`, and `bivaluate traits found.json --matrix A.csv --annotations samples.csv`. What the p-values are worth was measured:
# see [Other data](../elsewhere.md).
