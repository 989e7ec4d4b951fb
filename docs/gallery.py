# %% [markdown]
# # Gallery
#
# One picture per function of `bivaluate.plots`: data in, Axes out, `ax=` to draw into your own figure. Functions that draw
# several panels return a Figure.

# %%
import json
from pathlib import Path

import pandas as pd

import bivaluate
from bivaluate import Plan, Sweep, plots
from bivaluate.datasets import load_example

X, solution = load_example()
result = bivaluate.evaluate(X, solution)

# %% [markdown]
# ## plot_solution_heatmap: the matrix, arranged so that biclusters stand as blocks

# %%
plots.plot_solution_heatmap(X, solution).figure

# %% [markdown]
# ## plot_heatmap: columns as they are, biclusters stacked at the top

# %%
plots.plot_heatmap(X.values, solution).figure

# %% [markdown]
# ## plot_annotated_heatmap: a track for every bicluster, so that overlaps show (needs marsilea)

# %%
plots.plot_annotated_heatmap(X, solution)

# %% [markdown]
# ## plot_evidence: the evidence of each bicluster, and its pattern

# %%
plots.plot_evidence(result.biclusters).figure

# %% [markdown]
# ## plot_profile: the rows of one bicluster, and the pattern they share

# %%
plots.plot_profile(solution[1].of(X.values), name="B2").figure

# %% [markdown]
# ## plot_profiles: the same for all of them, side by side

# %%
plots.plot_profiles(X, solution)

# %% [markdown]
# ## plot_sizes: rows against columns

# %%
plots.plot_sizes(solution).figure

# %% [markdown]
# ## plot_mergers: how well any two would merge

# %%
plots.plot_mergers(result.mergers["ve"]).figure

# %% [markdown]
# ## plot_overlap_network: who shares values with whom

# %%
plots.plot_overlap_network(solution).figure

# %% [markdown]
# ## plot_upset: which rows lie in which biclusters

# %%
plots.plot_upset(solution).figure

# %% [markdown]
# ## plot_ksweep and plot_tradeoff: over K, and coverage against error

# %%
run = Sweep(
    Plan(["scenario:S1"], ["las", "spectral"], k=[2, 3, 4, 5], metrics=["nve_cov", "nve", "nve_k", "coverage"])
).run()
plots.plot_ksweep(run.results, "nve_cov").figure

# %%
plots.plot_tradeoff(run.results).figure

# %% [markdown]
# ## plot_k_curve: how many? Evidence beside its null, and the gain on held-out values

# %%
options = {"null": "permute", "null_runs": 5, "held_out": 3, "metrics": ["total_evidence"]}
curve = Sweep(Plan(["scenario:S4"], ["las"], k=[2, 3, 4, 5, 6], **options)).run()
plots.plot_k_curve(curve.results, "total_evidence", null=curve.null)

# %% [markdown]
# ## plot_candidates: every solution that was judged, the chosen one ringed

# %%
plots.plot_candidates(curve.results).figure

# %% [markdown]
# ## plot_detection_limit: from which size on `bivaluate find` finds a block

# %%
measured = next(path for path in (Path("find.json"), Path("docs/find.json")) if path.exists())
limit = json.loads(measured.read_text(encoding="utf-8"))["limit"]
plots.plot_detection_limit(pd.DataFrame({size: row["found"] for size, row in limit.items()}).T).figure

# %% [markdown]
# ## plot_traits: what the samples of each bicluster share

# %%
inside = pd.Series(range(X.shape[1])).isin(solution[0].cols)
samples = pd.DataFrame({"dose": inside.map({True: "high", False: "low"}), "batch": ["a", "b"] * (X.shape[1] // 2)})
plots.plot_traits(bivaluate.traits(solution, X, samples)).figure

# %% [markdown]
# ## plot_nve_map: NVE of every bicluster of every algorithm

# %%
plots.plot_nve_map(run.biclusters[run.biclusters["k"] == 4], 4).figure

# %% [markdown]
# ## plot_nve_reference: the scale of that map

# %%
plots.plot_nve_reference().figure
