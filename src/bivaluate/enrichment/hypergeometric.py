"""Which gene sets are over-represented in each bicluster, beside random sets of genes of the same sizes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bivaluate._check import check_choice, check_int, check_real
from bivaluate._errors import MatrixError, ParameterError
from bivaluate._text import Advice, Option, first_few, listing, number, percent, plural
from bivaluate.enrichment.gene_sets import GeneSets, set_name
from bivaluate.matrix import Matrix
from bivaluate.solution import Biclustering, check_solution

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Enrichment:
    """What :func:`enrich` found.

    Parameters
    ----------
    scores : dict of str to float
        Of the solution: the share of biclusters with at least one enriched set, the same for random sets of genes
        of the same sizes, their difference, and how many different sets are enriched.
    biclusters : list of dict
        One per bicluster: its genes, how many of them are annotated, how many sets are enriched, the best set with
        its p and q, and how often random genes of that number are enriched.
    terms : list of dict
        One per bicluster and set they share a gene with, best first: overlap, sizes, p and q.
    background : dict of str to int
        How many genes the matrix has, how many of them are in some set, how many sets were tested.
    level : float
        The false discovery rate.
    lowest_p : float
        The lowest p that any list of genes could reach in these sets.

    See Also
    --------
    enrich

    Examples
    --------
    >>> X = Matrix(np.zeros((6, 2)), row_labels=tuple("abcdef"))
    >>> enrich(Biclustering([([0, 1, 2], [0, 1])], (6, 2)), X, GeneSets({"s": "abc", "t": "def"}), n_random=0)
    Enrichment(0 of 1 bicluster enriched, 2 sets tested)
    """

    scores: dict[str, float]
    biclusters: list[dict[str, Any]]
    terms: list[dict[str, Any]]
    background: dict[str, int]
    level: float
    lowest_p: float

    def to_frame(self) -> pd.DataFrame:
        """Return the table of biclusters as a DataFrame.

        Returns
        -------
        DataFrame
            One row per bicluster.

        Examples
        --------
        >>> X = Matrix(np.zeros((6, 2)), row_labels=tuple("abcdef"))
        >>> found = enrich(Biclustering([([0, 1], [0, 1])], (6, 2)), X, GeneSets({"s": "ab", "t": "def"}), n_random=0)
        >>> found.to_frame()["best"].tolist()
        ['s']
        """
        import pandas as pd

        return pd.DataFrame(self.biclusters)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as a dictionary that JSON can hold.

        Returns
        -------
        dict
            Level, lowest p, background, scores, biclusters and terms.

        Examples
        --------
        >>> X = Matrix(np.zeros((6, 2)), row_labels=tuple("abcdef"))
        >>> found = enrich(Biclustering([([0, 1], [0, 1])], (6, 2)), X, GeneSets({"s": "ab", "t": "def"}), n_random=0)
        >>> found.to_dict()["background"]
        {'genes': 6, 'annotated': 5, 'sets': 2}
        """
        return {
            "level": self.level,
            "lowest_p": self.lowest_p,
            "background": self.background,
            "scores": self.scores,
            "biclusters": self.biclusters,
            "terms": self.terms,
        }

    @property
    def summary(self) -> str:
        """The result in a sentence.

        Returns
        -------
        str
            How many biclusters are enriched, beside what random genes give; or why none can be.

        Examples
        --------
        >>> X = Matrix(np.zeros((6, 2)), row_labels=tuple("abcdef"))
        >>> S = Biclustering([([0, 1, 2], [0, 1])], (6, 2))
        >>> enrich(S, X, GeneSets({"s": "abc", "t": "def"}), n_random=0).summary
        'No bicluster is enriched in any set (q ≤ 0.05).'
        >>> enrich(S, X, GeneSets({"s": "abc"}), n_random=0).summary[:41]
        'No list of genes can be enriched here (p '
        """
        hits = sum(1 for row in self.biclusters if row["n_enriched"])
        if self.lowest_p > self.level:
            return (
                f"No list of genes can be enriched here (p is at least {number(self.lowest_p)}): genes are compared with the "
                f"{plural(self.background['annotated'], 'gene')} of the matrix that are in some set, which leaves too few outside a set. "
                "Give a whole collection of sets, such as GO or Reactome, rather than the sets of interest alone."
            )
        if not hits:
            return f"No bicluster is enriched in any set (q ≤ {number(self.level)})."
        are = "is" if hits == 1 else "are"
        distinct = int(self.scores["distinct_sets"])
        sets = plural(distinct, "set" if distinct == 1 else "different set")
        text = f"{hits} of {plural(len(self.biclusters), 'bicluster')} {are} enriched (q ≤ {number(self.level)}), in {sets}"
        control = self.scores["share_enriched_random"]
        return f"{text}." if np.isnan(control) else f"{text}; of random lists of as many genes, {percent(control)} are."

    def __repr__(self) -> str:
        hits = sum(1 for row in self.biclusters if row["n_enriched"])
        tested = plural(self.background["sets"], "set")
        return f"Enrichment({hits} of {plural(len(self.biclusters), 'bicluster')} enriched, {tested} tested)"


def enrich(
    solution: Biclustering,
    X: Any,
    sets: GeneSets,
    *,
    genes: str = "rows",
    level: float = 0.05,
    min_size: int = 2,
    n_random: int = 100,
    random_state: int = 0,
) -> Enrichment:
    r"""Test which gene sets are over-represented among the genes of each bicluster.

    The chance that a random choice of as many genes of the matrix shares at least as many with the set
    (hypergeometric, one-sided). The q-values of each bicluster are Benjamini and Hochberg's over all sets tested.
    The background is the genes of the matrix that are in some set, never the whole genome.

    Parameters
    ----------
    solution : Biclustering
        The biclusters.
    X : Matrix or DataFrame
        The matrix they come from, with the names of genes as labels.
    sets : GeneSets
        The gene sets.
    genes : {"rows", "columns"}, default="rows"
        Where the genes are.
    level : float, default=0.05
        The false discovery rate up to which a set counts as enriched.
    min_size : int, default=2
        Sets with fewer genes of the background are not tested.
    n_random : int, default=100
        How many random sets of genes are drawn for each bicluster, as a control; 0 for none.
    random_state : int, default=0
        Same seed, same control.

    Returns
    -------
    Enrichment
        Tables and scores.

    Raises
    ------
    MatrixError
        If the matrix has no names of genes.
    ParameterError
        If sets and matrix share no gene, or an argument has a value that is not allowed.

    See Also
    --------
    bivaluate.enrichment.read_gmt, bivaluate.enrichment.load_yeast_ontology

    References
    ----------
    .. [1] Benjamini, Hochberg (1995). Controlling the false discovery rate. J. R. Stat. Soc. B 57, 289-300.

    Examples
    --------
    >>> names = tuple(f"g{i}" for i in range(40))
    >>> X = Matrix(np.zeros((40, 3)), row_labels=names)
    >>> sets = GeneSets({"ribosome": names[:8], "rest": names[8:]})
    >>> found = enrich(Biclustering([(range(8), [0, 1])], (40, 3)), X, sets)
    >>> found.biclusters[0]["best"], round(found.scores["share_enriched"], 2)
    ('ribosome', 1.0)
    """
    check_choice("genes", genes, ("rows", "columns"))
    check_real("level", level, 0.0, 1.0)
    check_int("min_size", min_size, 1)
    check_int("n_random", n_random, 0)
    matrix = Matrix.of(X, missing="omit")
    solution = check_solution(solution, matrix=matrix)
    background = _Background(matrix, sets, genes, min_size)
    rng = np.random.default_rng(random_state)
    biclusters: list[dict[str, Any]] = []
    terms: list[dict[str, Any]] = []
    enriched: set[int] = set()
    for position, bicluster in enumerate(solution, start=1):
        chosen = bicluster.rows if genes == "rows" else bicluster.cols
        study = background.studied(chosen)
        result = background.test(study)
        significant = np.flatnonzero(result.q <= level)
        enriched |= set(significant.tolist())
        shown = np.lexsort((np.arange(len(result.p)), -result.overlap, result.p))
        shown = shown[result.overlap[shown] > 0]
        rows = [_term_row(position, background, sets, result, k, len(study)) for k in shown]
        terms += rows
        best = rows[0] if rows else {"set": "", "title": "", "p": np.nan, "q": np.nan}
        biclusters.append(
            {
                "bicluster": f"B{position}",
                "genes": len(chosen),
                "annotated": len(study),
                "n_enriched": len(significant),
                "best": best["set"],
                "title": best["title"],
                "p": best["p"],
                "q": best["q"],
                "random": background.share_of_random(len(study), n_random, level, rng),
            }
        )
    share = float(np.mean([row["n_enriched"] > 0 for row in biclusters])) if biclusters else np.nan
    control = float(np.mean([row["random"] for row in biclusters])) if biclusters else np.nan
    scores = {
        "share_enriched": share,
        "share_enriched_random": control,
        "share_beyond_random": share - control,
        "distinct_sets": float(len(enriched)),
    }
    return Enrichment(scores, biclusters, terms, background.counts, level, background.lowest_p)


def _term_row(
    position: int, background: _Background, sets: GeneSets, result: _Tested, k: int, size: int
) -> dict[str, Any]:
    return {
        "bicluster": f"B{position}",
        "set": background.keys[k],
        "title": sets.title(background.keys[k]),
        "overlap": int(result.overlap[k]),
        "genes": size,
        "set_size": int(background.sizes[k]),
        "background": background.n_genes,
        "p": float(result.p[k]),
        "q": float(result.q[k]),
    }


@dataclass(frozen=True)
class _Tested:
    overlap: Counts
    p: Floats
    q: Floats


class _Background:
    """The annotated genes of a matrix, and which of the tested sets each belongs to."""

    def __init__(self, matrix: Matrix, sets: GeneSets, genes: str, min_size: int) -> None:
        from scipy.sparse import csr_array

        labels = matrix.row_labels if genes == "rows" else matrix.col_labels
        if labels is None:
            raise MatrixError(
                Advice(
                    f"{matrix.name} has no names of genes: its {genes} have no labels. Read it with its labels, "
                    "or say that the genes are on the other side: ",
                    Option("genes", "columns" if genes == "rows" else "rows"),
                    ".",
                )
            )
        known = sets.known_as(labels)
        numbers: dict[str, int] = {}
        for name in known:
            if name is not None:
                numbers.setdefault(name, len(numbers))
        if not numbers:
            raise ParameterError(
                f"{sets.name} and {matrix.name} share no gene: {first_few(sorted(sets.genes), 3)} there, "
                f"{first_few(list(labels), 3)} here. Are these names of the same kind, and are the genes on the "
                f"{genes}?"
            )
        # Two labels of one gene count as one gene.
        self._numbers = np.array([-1 if name is None else numbers[name] for name in known])
        self.n_genes = len(numbers)
        inside = {key: [numbers[g] for g in found if g in numbers] for key, found in sets.members.items()}
        tested = {key: found for key, found in inside.items() if len(found) >= min_size}
        if not tested:
            raise ParameterError(
                f"no set of {sets.name} has {plural(min_size, 'gene')} of the {self.n_genes:,} that {matrix.name} "
                f"shares with them. Lower min_size."
            )
        self.keys = list(tested)
        self.sizes: Counts = np.array([len(found) for found in tested.values()], dtype=np.int64)
        columns = np.concatenate([np.asarray(found) for found in tested.values()])
        starts = np.concatenate([[0], np.cumsum(self.sizes)])
        self._sets = csr_array((np.ones(len(columns), np.int64), columns, starts), shape=(len(tested), self.n_genes))
        self.counts = {"genes": len(labels), "annotated": self.n_genes, "sets": len(tested)}
        # a list that is the set itself is one of all lists of its size; their number is largest at half of the genes
        self.lowest_p = 1 / math.comb(
            self.n_genes, min(self.sizes.tolist(), key=lambda size: abs(2 * size - self.n_genes))
        )

    def studied(self, members: Counts) -> Counts:
        """Return the annotated genes among rows or columns, each once."""
        numbers = np.unique(self._numbers[members])
        return numbers[numbers >= 0]

    def test(self, study: Counts) -> _Tested:
        """Return overlap, p and q of every set."""
        overlap = self._overlaps([study])[0]
        p = self._tail(overlap, len(study))
        return _Tested(overlap, p, adjusted(p))

    def share_of_random(self, size: int, n_random: int, level: float, rng: np.random.Generator) -> float:
        """Return how often random genes, as many, are enriched in some set."""
        if not n_random:
            return np.nan
        draws = [rng.choice(self.n_genes, size, replace=False) for _ in range(n_random)]
        overlaps = self._overlaps(draws)
        tails = self._tail(overlaps, size)
        return float(np.mean([np.min(adjusted(p)) <= level for p in tails]))

    def _overlaps(self, studies: Sequence[Counts]) -> Counts:
        """Return how many genes each choice of genes shares with each set."""
        chosen = np.zeros((self.n_genes, len(studies)), dtype=np.int64)
        for k, study in enumerate(studies):
            chosen[study, k] = 1
        found: Counts = (self._sets @ chosen).T
        return found

    def _tail(self, overlap: Counts, size: int) -> Floats:
        """Return P(at least this overlap), each pair of overlap and set size worked out once."""
        from scipy.stats import hypergeom

        sizes = np.broadcast_to(self.sizes, overlap.shape)
        code = overlap * (self.n_genes + 1) + sizes
        distinct, place = np.unique(code, return_inverse=True)
        k, of = np.divmod(distinct, self.n_genes + 1)
        p = np.where(k == 0, 1.0, hypergeom.sf(k - 1, self.n_genes, of, size))
        return np.asarray(np.minimum(p, 1.0)[place].reshape(overlap.shape), dtype=np.float64)


def adjusted(p: Floats) -> Floats:
    """Return the q-values of Benjamini and Hochberg."""
    from scipy.stats import false_discovery_control

    return np.asarray(false_discovery_control(p, method="bh"), dtype=np.float64)


def describe(result: Enrichment, most: int = 3) -> list[str]:
    """Return a sentence for each enriched bicluster: its best sets."""
    lines = []
    for row in result.biclusters:
        if row["n_enriched"]:
            best = [t for t in result.terms if t["bicluster"] == row["bicluster"] and t["q"] <= result.level]
            named = [
                f"{set_name(t['set'], t['title'])} ({t['overlap']} of {t['set_size']}, q {number(t['q'])})"
                for t in best[:most]
            ]
            more = len(best) - len(named)
            lines.append(f"{row['bicluster']}: {listing(named)}" + (f", and {more:,} more" if more > 0 else ""))
    return lines
