# %% [markdown]
# # Yeast genes, and what they do
#
# Cell-cycle data of yeast, biclusters by Large Average Submatrices, and the Gene Ontology as a witness that never saw the values.

# %%
import bivaluate
from bivaluate.algorithms import LargeAverageSubmatrices
from bivaluate.datasets import load

X = load("yeast:01_alpha_factor")
model = LargeAverageSubmatrices(n_biclusters=5, n_restarts=100, random_state=0).fit(X)
result = bivaluate.evaluate(X, model)
print(result.verdict)
print(*result.findings, sep="\n")

# %% [markdown]
# Do the genes of each bicluster share a function? Beside the share of enriched biclusters stands what random genes give.

# %%
from bivaluate.enrichment import enrich, load_yeast_ontology

found = enrich(model.solution_, X, load_yeast_ontology())
print(found.summary)
found.to_frame()[["bicluster", "genes", "n_enriched", "title", "q", "random"]]

# %%
assert found.scores["share_enriched"] > found.scores["share_enriched_random"]
