# %% [markdown]
# # Single cells: AnnData in, AnnData out
#
# 700 blood cells and 765 genes, as scanpy ships them. Rows are genes unless you say otherwise (`obs_rows=True`).

# %%
import anndata
import bivaluate
import numpy as np
from bivaluate.datasets import load_labelled

cells = load_labelled("pbmc68k")
adata = anndata.AnnData(
    cells.matrix.values.T.copy(), obs={"cell": cells.matrix.col_labels}, var={"gene": cells.matrix.row_labels}
)
adata.obs_names, adata.var_names = cells.matrix.col_labels, cells.matrix.row_labels

# %% [markdown]
# Marker genes in the cells of their type are biclusters; a good judge keeps them.

# %%
markers = {
    "CD19+ B": ["CD79A", "CD79B", "MS4A1"],
    "CD56+ NK": ["GNLY", "NKG7", "GZMB"],
    "CD14+ Monocyte": ["CTSS", "LST1"],
}
names = list(adata.var_names)
pairs = [
    ([names.index(gene) for gene in genes if gene in names], np.flatnonzero(cells.col_classes[kind]))
    for kind, genes in markers.items()
    if kind in cells.col_classes
]
result = bivaluate.evaluate(adata, pairs, key_added="markers")
print(result.verdict)
print(list(adata.uns), list(adata.varm), list(adata.obsm))
