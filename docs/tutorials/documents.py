# %% [markdown]
# # Documents: how many topics?
#
# Reuters R8: 5,485 documents, 10,684 words, hardly any value filled. Nothing here turns it into a dense array. A third of
# the documents and the words that most of them use are enough to choose a number of topics.

# %%
import bivaluate
import numpy as np
from bivaluate.datasets import load_labelled
from sklearn.decomposition import NMF

news = load_labelled("reuters_r8")
counts = news.matrix.to_scipy()
used = np.argsort(-np.asarray((counts > 0).sum(axis=0)).ravel(), kind="stable")[
    50:450
]  # without the 50 that are everywhere
rows = np.arange(0, counts.shape[0], 3)
X = counts[rows][:, np.sort(used)]

# %% [markdown]
# `select_k` fits the model for every number of topics and asks of each topic whether chance is ruled out. Documents are
# the rows, as scikit-learn's NMF and LDA expect them.

# %%
search = bivaluate.select_k(NMF(init="nndsvda", random_state=0, max_iter=400), X, k=[2, 4, 6, 8, 10, 12])
print(search.verdict)
search.plot()

# %% [markdown]
# The classes of the documents played no part. Which class is the most frequent among the documents of each supported topic?

# %%
records = search.evaluation_.verdict.biclusters
for k, (topic, record) in enumerate(zip(search.solution_, records, strict=True), start=1):
    if record["verdict"] != "supported":
        continue
    shares = {name: mask[rows][topic.rows].mean() for name, mask in news.row_classes.items()}
    name = max(shares, key=shares.get)
    print(f"B{k}: {len(topic.rows)} documents, {shares[name]:.0%} of them {name}")
