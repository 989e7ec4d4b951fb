# %% [markdown]
# # Meta-programs: which programs recur over patients?
#
# Gene programs are found sample by sample, by NMF as in cNMF or GeneNMF, and then compared: a program that comes again in other
# patients is biology, one of a single patient may be anything. `recur` groups the programs, and says how many groups there are
# without a cut-off chosen by eye.

# %%
import bivaluate
import numpy as np
from anndata import AnnData
from bivaluate.datasets import make_programs

samples, truth = make_programs(6, 3, n_genes=400, n_cells=60, random_state=1)
adata = AnnData(np.concatenate([X.values for X in samples.values()], axis=1).T)
adata.var_names = list(samples["sample 1"].row_labels)
adata.obs["patient"] = np.repeat(list(samples), 60)
adata

# %% [markdown]
# These are made: three programs of 50 genes in 40 to 100 % of six patients, and two more in each patient that no other has. One
# object and the column that names the patient are enough. Each patient is fitted by NMF; of a factor the 50 genes with the largest
# spectra scores are taken, as cNMF ranks them. Ask for more factors than you expect programs.

# %%
found = bivaluate.recur(adata, sample="patient", n_biclusters=7)
print(found)
found.groups[["group", "n_samples", "n_members", "n_rows", "closeness", "nearest", "nearest_closeness"]].round(2)

# %% [markdown]
# All three are there, in the right patients:

# %%
for genes, patients in truth:
    named = {f"gene{g}" for g in genes}
    best = max(range(len(found.rows)), key=lambda i: len(named & {row for row, _ in found.rows[i]}))
    shared = len(named & {row for row, _ in found.rows[best]})
    print(
        f"{found.records[best]['group']}: {shared} of {len(named)} genes;", found.records[best]["samples"] == patients
    )

# %% [markdown]
# The genes of a group come by recurrence: in how many patients each is among the top 50.

# %%
found.rows[0][:10]

# %% [markdown]
# Results of cNMF are read from its folders, one per patient: `bivaluate recur patient1 patient2 patient3 -k 10 --out programs`. Of
# GeneNMF, or any other tool, give one solution and one matrix per sample: `recur({"patient 1": (solution, X), …})`.
