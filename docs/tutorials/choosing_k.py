# %% [markdown]
# # How many programs? Choosing K for NMF
#
# 700 blood cells again, this time as non-negative expression. Factors of a non-negative matrix factorisation (or programs of cNMF,
# or topics) are soft biclusters: the genes and the cells that load on one factor. So the question "which K?" can be asked about them.

# %%
import bivaluate
import pandas as pd
from bivaluate import Biclustering
from bivaluate.datasets import load_labelled
from bivaluate.sweep import k_curve
from sklearn.decomposition import NMF

cells = load_labelled("pbmc68k_raw")
X = cells.matrix
X

# %%
evaluations = []
for k in (2, 4, 6, 8, 10, 12):
    model = NMF(k, init="nndsvda", max_iter=500).fit(X.values)
    solution = Biclustering.from_factors(
        model.transform(X.values), model.components_, info={"k": k, "name": f"NMF {k}"}
    )
    evaluations.append(bivaluate.evaluate(X, solution))

# %% [markdown]
# For every K: the *evidence* for its factors, how many of them are supported, which share of the matrix these cover, and beside it the
# same sizes and overlaps placed at random. (`bivaluate score counts.h5ad cnmf_run/` prints this table for a run of cNMF.)

# %%
curve = pd.DataFrame(k_curve(evaluations, placements=2))
curve[["k", "total_evidence", "null_total_evidence", "n_supported", "supported_coverage", "nve"]].round(2)

# %%
ax = curve.plot(x="k", y="total_evidence", marker="o", legend=False, ylabel="evidence (nats)", xlabel="K requested")
best = evaluations[curve["total_evidence"].idxmax()]
print("K =", best.solution.info["k"])
print(best.verdict)

# %% [markdown]
# What are these programs? The cell types were not used to find them. Here is the most frequent type in each factor's cells:

# %%
for k, (_, members) in enumerate(best.solution, start=1):
    shares = {kind: mask[members].mean() for kind, mask in cells.col_classes.items()}
    kind = max(shares, key=shares.get)
    print(f"B{k}: {len(members)} cells, {shares[kind]:.0%} of them {kind}")
