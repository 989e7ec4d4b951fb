# %% [markdown]
# # Documents: a sparse matrix
#
# Reuters R8: 5,485 documents, 10,684 words, hardly any cell filled. Nothing here turns it into a dense array.

# %%
import bivaluate
from bivaluate.algorithms import SpectralCoclusters
from bivaluate.datasets import load_labelled

news = load_labelled("reuters_r8")
X = news.matrix
print(X)

# %%
model = SpectralCoclusters(n_biclusters=8, random_state=0).fit(X)
result = bivaluate.evaluate(X, model, metrics=["coverage", "ve", "msr", "n_biclusters"])
result.biclusters[["bicluster", "n_rows", "n_cols", "ve"]].round(3)

# %% [markdown]
# The classes of the documents played no part. Which class does each co-cluster of documents fit best?

# %%
from bivaluate.benchmark.truth import best_agreements

for k, (rows, _) in enumerate(model.solution_, start=1):
    scores = {name: best_agreements(rows, mask[None])["f1"] for name, mask in news.row_classes.items()}
    name, score = max(scores.items(), key=lambda pair: pair[1])
    print(f"B{k}: {len(rows)} documents, mostly {name} (F1 {score:.2f})")
