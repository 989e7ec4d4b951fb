"""Samples of single cells with planted gene programs: some recur over samples, some are private."""

import numpy as np

from bivaluate._check import check_int, check_real
from bivaluate._errors import ParameterError
from bivaluate._types import Ints
from bivaluate.matrix import Matrix


def make_programs(
    n_samples: int = 8,
    n_programs: int = 4,
    *,
    n_private: int = 2,
    n_genes: int = 1000,
    n_cells: int = 120,
    size: int = 50,
    share: tuple[float, float] = (0.4, 1.0),
    strength: float = 4.0,
    random_state: int = 0,
) -> tuple[dict[str, Matrix], list[tuple[Ints, list[str]]]]:
    """Make counts of genes x cells for several samples, with programs that recur and programs of one sample.

    Parameters
    ----------
    n_samples, n_programs : int
        Number of samples, and of programs that recur, each in at least two samples; 0 for noise.
    n_private : int, default=2
        Programs of each sample that no other has.
    n_genes, n_cells, size : int
        Genes in all samples, cells of each, and genes of a program.
    share : (float, float), default=(0.4, 1.0)
        Share of the samples in which a program occurs, drawn between the two.
    strength : float, default=4.0
        Mean count that a program at full use adds to its genes; the background has a mean of 1.
    random_state : int, default=0
        Seed.

    Returns
    -------
    dict of str to Matrix
        The counts of every sample, by its name.
    list of (ndarray, list of str)
        Of every program that recurs its genes and its samples.

    Raises
    ------
    ParameterError
        If the programs do not fit into the genes.

    See Also
    --------
    bivaluate.recur

    Examples
    --------
    >>> samples, programs = make_programs(3, 2, n_genes=300, n_cells=20, random_state=1)
    >>> samples["sample 1"].shape, [len(genes) for genes, _ in programs]
    ((300, 20), [50, 50])
    """
    check_int("n_samples", n_samples, 2)
    check_real("strength", strength, 0.0)
    if size * max(n_programs, 1) > n_genes or size * (n_private + n_programs) > n_genes:
        found = f"{n_programs} programs and {n_private} private ones of {size} genes"
        raise ParameterError(f"{found} need more than {n_genes} genes.")
    rng = np.random.default_rng(random_state)
    level = rng.gamma(2.0, 0.5, size=n_genes)
    order = rng.permutation(n_genes)
    names = [f"sample {i + 1}" for i in range(n_samples)]
    programs = []
    for k in range(n_programs):
        count = max(2, round(rng.uniform(*share) * n_samples))
        own = sorted(rng.choice(n_samples, min(count, n_samples), replace=False).tolist())
        programs.append((np.sort(order[k * size : (k + 1) * size]), [names[i] for i in own]))
    labels = tuple(f"gene{i}" for i in range(n_genes))
    free = order[n_programs * size :]
    samples = {}
    for name in names:
        private = rng.permutation(free)[: n_private * size].reshape(n_private, size)
        mean = np.outer(level, rng.gamma(20.0, 0.05, size=n_cells))
        for genes in [*(genes for genes, own in programs if name in own), *private]:
            use = rng.gamma(2.0, 0.5, size=n_cells) * (rng.random(n_cells) < 0.3)
            mean[genes] += strength * rng.uniform(0.5, 1.5, size=size)[:, None] * use
        cells = tuple(f"{name} cell {j}" for j in range(n_cells))
        samples[name] = Matrix(rng.poisson(mean).astype(float), labels, cells, name)
    return samples, programs
