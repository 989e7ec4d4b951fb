# %% [markdown]
# # How many programs? Choosing K for NMF
#
# 700 blood cells again, this time as non-negative expression. Factors of a non-negative matrix factorisation (or programs of cNMF,
# or topics) are soft biclusters: the genes and the cells that load on one factor. So the question "which K?" can be asked about them.

# %%
from bivaluate import Biclustering, evaluate, select_k
from bivaluate.datasets import load_labelled
from sklearn.decomposition import NMF

cells = load_labelled("pbmc68k_raw")
X = cells.matrix
X

# %% [markdown]
# `select_k` fits the model for every K and judges the factors. (`bivaluate score counts.h5ad cnmf_run/` does this for a run of cNMF.)

# %%
search = select_k(NMF(init="nndsvda", max_iter=500), X, k=[2, 4, 6, 8, 10, 12])
print(search.verdict)
search.plot()

# %% [markdown]
# Three numbers belong to every K: how many factors were requested, found, and *supported*. The number supported says how many programs can
# be told from chance. The K to take is the smallest that is as good as the K of most evidence (within 5 %) and has no fewer supported
# biclusters; if the K up to which all are supported has no less evidence than that, it is taken instead.

# %%
dict(zip(search.cv_results_["param_n_components"], search.cv_results_["n_supported"], strict=True))

# %%
best = evaluate(X, Biclustering.from_factor_model(search.best_estimator_, X.values))
best.verdict

# %% [markdown]
# What are these programs? The cell types were not used to find them. Here is the most frequent type in each factor's cells:

# %%
for k, (_, members) in enumerate(best.solution, start=1):
    shares = {kind: mask[members].mean() for kind, mask in cells.col_classes.items()}
    kind = max(shares, key=shares.get)
    print(f"B{k}: {len(members)} cells, {shares[kind]:.0%} of them {kind}")
