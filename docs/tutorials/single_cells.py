# %% [markdown]
# # Single cells: what is in the matrix, are my clusters supported, and back into the object
#
# 700 blood cells and 765 genes, as scanpy ships them. A file of your own is one line as well: `sc.read("cells.h5ad")`. In
# everything bivaluate does with such an object, rows are genes and columns are cells, unless you say `obs_rows=True`.
#
# This tutorial needs scanpy, which no extra of bivaluate installs: `pip install scanpy`.

# %%
import bivaluate
import numpy as np
import scanpy as sc
from bivaluate import Biclustering

adata = sc.datasets.pbmc68k_reduced()
adata

# %% [markdown]
# What is in the matrix, and how many, without clusters to begin with? `find` runs algorithms, judges what they find by evidence, and keeps
# what is supported. (Two of them here; all that fit the data without `algorithms`.)

# %%
X = bivaluate.Matrix.from_anndata(adata)
found = bivaluate.find(X, algorithms=["las", "isa"])
print(found.verdict)
found.evaluation

# %% [markdown]
# Which cells are these? The labels of the laboratory were not used.

# %%
for k, (_, members) in enumerate(found.solution, start=1):
    share = adata.obs["bulk_labels"].iloc[members].value_counts(normalize=True)
    print(f"B{k}: {len(members)} cells, {share.iloc[0]:.0%} of them {share.index[0]}")

# %% [markdown]
# The usual way of single-cell analysis: clusters of cells, and the genes that mark each of them.

# %%
sc.tl.rank_genes_groups(adata, "louvain", method="t-test", n_genes=15)
ranked = adata.uns["rank_genes_groups"]["names"]
groups = adata.obs["louvain"].value_counts().index[:5]

# %% [markdown]
# A cluster of cells with its marker genes is a bicluster. So the question can be asked: is each supported, and is one redundant with
# another?

# %%
pairs = [
    (adata.var_names.get_indexer(ranked[group]), np.flatnonzero(adata.obs["louvain"] == group)) for group in groups
]
result = bivaluate.evaluate(adata, pairs, key_added="markers")
result

# %% [markdown]
# `key_added` has put everything into the object: which genes and cells belong (`.varm`, `.obsm`), scores and findings (`.uns`).
# It goes where the object goes, `adata.write("cells.h5ad")` included.

# %%
table = adata.uns["markers"]["biclusters"].assign(cluster=list(groups))
table[["bicluster", "cluster", "n_rows", "n_cols", "evidence", "pattern", "verdict", "ve"]].round(2)

# %%
{
    key: round(float(adata.uns["markers"]["scores"][key]), 3)
    for key in ("total_evidence", "supported_coverage", "nve_cov", "coverage")
}

# %% [markdown]
# The picture: genes that mark more than one cluster stand in more than one track.

# %%
bivaluate.plots.plot_solution_heatmap(bivaluate.Matrix.from_anndata(adata), result.solution).figure

# %% [markdown]
# Markers that are known from the laboratory, in the cells of their type, ought to be supported.

# %%
known = {
    "CD19+ B": ["CD79A", "CD79B", "MS4A1"],
    "CD56+ NK": ["GNLY", "NKG7", "GZMB"],
    "CD14+ Monocyte": ["CTSS", "LST1", "FCGR3A", "S100A8", "CST3", "LYZ", "FCN1", "AIF1"],
}
textbook = Biclustering(
    [
        (adata.var_names.get_indexer(genes), np.flatnonzero(adata.obs["bulk_labels"] == kind))
        for kind, genes in known.items()
    ],
    shape=(adata.n_vars, adata.n_obs),
)
print(bivaluate.evaluate(adata, textbook).verdict)
