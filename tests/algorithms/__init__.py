import numba


def entry(kernel):
    """Return a function that Python may call in place of a kernel that only kernels call."""
    return numba.njit(lambda *given: kernel(*given))
