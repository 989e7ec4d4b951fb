"""VE and MSR of biclusters and of their mergers, in five ways; what the data are decides which, and nothing else.

NumPy (`measures._blocks`), one block after the other, below `KERNEL_CELLS` cells of mergers; from there on two passes
over the rows by compiled kernels (`two_pass`), of sparse matrices by kernels that visit the entries alone; `careful`
where these would lose digits; `missing` where cells are missing. The command, the installation and the number of
threads change nothing, to the bit. The `Workspace` chooses.
"""
