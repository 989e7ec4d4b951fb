"""The only place that decides: which solution is best, which biclusters are redundant, what is worth saying."""
