# %% [markdown]
# # Ratings: what nobody rated is absent, not zero
#
# MovieLens 100k: 943 users, 1,682 films, 94 % of the values absent.

# %%
import bivaluate
import numpy as np
from bivaluate.datasets import load_labelled

films = load_labelled("movielens")
X = films.matrix
print(X)

# %% [markdown]
# A bicluster by hand: the users who rated most, and the films of one genre that most of them rated.

# %%
values = X.values
rated = ~np.isnan(values)
users = np.argsort(-rated.sum(axis=1))[:60]
genre = np.flatnonzero(films.col_classes["Sci-Fi"])
genre = genre[np.argsort(-rated[np.ix_(users, genre)].sum(axis=0))[:15]]
other = np.flatnonzero(films.col_classes["Drama"])
other = other[np.argsort(-rated[np.ix_(users, other)].sum(axis=0))[:15]]
result = bivaluate.evaluate(X, [(users, genre), (users, other)], missing="omit")
print(result.verdict)
result.biclusters[["bicluster", "n_rows", "n_cols", "ve", "msr", "evidence", "pattern"]].round(3)
