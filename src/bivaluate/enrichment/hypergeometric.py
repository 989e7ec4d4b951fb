"""Which gene sets are over-represented in each bicluster, beside random sets of genes of the same sizes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bivaluate._check import check_choice, check_int, check_real
from bivaluate._errors import MatrixError, ParameterError
from bivaluate._text import Advice, Option, first_few, listing, number, percent, plural
from bivaluate._types import DataFrame, Floats, Ints
from bivaluate.enrichment.gene_sets import GeneSets, set_name
from bivaluate.matrix import Matrix
from bivaluate.solution import Biclustering, check_solution


@dataclass(frozen=True, eq=False)
class Enrichment:
    """What :func:`enrich` found.

    Parameters
    ----------
    scores : dict of str to float
        Of the solution: the share of biclusters with at least one enriched set, the same for random sets of genes
        of the same sizes, their difference, and how many different sets are enriched.
    biclusters, terms : list of dict
        One per bicluster, with its best set and how often random genes of that number are enriched; one per bicluster
        and set they share a gene with, best first.
    background : dict of str to int
        How many genes the matrix has, how many of them are in some set, how many sets were tested.
    level, lowest_p : float
        The false discovery rate, and the lowest p that any list of genes could reach in these sets.

    See Also
    --------
    enrich

    Examples
    --------
    >>> enrich(S, Matrix(X, tuple("abcde")), GeneSets({"s": "abc", "t": "de"}), n_random=0)
    Enrichment(0 of 3 biclusters enriched, 2 sets tested)
    """

    scores: dict[str, float]
    biclusters: list[dict[str, Any]]
    terms: list[dict[str, Any]]
    background: dict[str, int]
    level: float
    lowest_p: float

    def to_frame(self) -> DataFrame:
        """Return the table of biclusters as a DataFrame.

        Returns
        -------
        DataFrame
            One row per bicluster.

        Examples
        --------
        >>> found = enrich(S, Matrix(X, tuple("abcde")), GeneSets({"s": "abc", "t": "de"}), n_random=0)
        >>> found.to_frame()["best"].tolist()
        ['s', 't', 's']
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
        >>> enrich(S, Matrix(X, tuple("abcde")), GeneSets({"s": "abc", "t": "de"})).to_dict()["background"]
        {'genes': 5, 'annotated': 5, 'sets': 2}
        """
        return dict(vars(self))

    @property
    def summary(self) -> str:
        """The result in a sentence.

        Returns
        -------
        str
            How many biclusters are enriched, beside what random genes give; or why none can be.

        Examples
        --------
        >>> enrich(S, Matrix(X, tuple("abcde")), GeneSets({"s": "abc", "t": "de"}), n_random=0, level=0.2).summary
        'No bicluster is enriched in any set (q ≤ 0.2).'
        """
        if self.lowest_p > self.level:
            return (
                f"No list of genes can be enriched here (p is at least {number(self.lowest_p)}): genes are compared with the "
                f"{plural(self.background['annotated'], 'gene')} of the matrix that are in some set, which leaves too few outside a set. "
                "Give a whole collection of sets, such as GO or Reactome, rather than the sets of interest alone."
            )
        hits = self._hits
        if not hits:
            return f"No bicluster is enriched in any set (q ≤ {number(self.level)})."
        are = "is" if hits == 1 else "are"
        distinct = int(self.scores["distinct_sets"])
        sets = plural(distinct, "set" if distinct == 1 else "different set")
        text = f"{hits} of {plural(len(self.biclusters), 'bicluster')} {are} enriched (q ≤ {number(self.level)}), in {sets}"
        control = self.scores["share_enriched_random"]
        return f"{text}." if np.isnan(control) else f"{text}; of random lists of as many genes, {percent(control)} are."

    @property
    def _hits(self) -> int:
        return sum(row["n_enriched"] > 0 for row in self.biclusters)

    def __repr__(self) -> str:
        tested = plural(self.background["sets"], "set")
        return f"Enrichment({self._hits} of {plural(len(self.biclusters), 'bicluster')} enriched, {tested} tested)"


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
    """Test which gene sets are over-represented among the genes of each bicluster.

    Hypergeometric, one-sided; q-values of each bicluster after Benjamini and Hochberg (1995) over all sets tested. The
    background is the genes of the matrix that are in some set, never the whole genome.

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
    min_size, n_random, random_state : int
        Fewest genes of the background in a set that is tested; random sets of genes per bicluster, as a control, and
        their seed.

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

    Examples
    --------
    >>> names = tuple(f"g{i}" for i in range(40))
    >>> sets = GeneSets({"ribosome": names[:8], "rest": names[8:]})
    >>> found = enrich(Biclustering([(range(8), [0, 1])], (40, 3)), Matrix(np.zeros((40, 3)), names), sets)
    >>> found.biclusters[0]["best"]
    'ribosome'
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
    enriched: set[str] = set()
    for called, bicluster in zip(solution.names, solution, strict=True):
        name = {"bicluster": called}
        chosen = bicluster.rows if genes == "rows" else bicluster.cols
        study = np.unique(background.numbers[chosen])
        study = study[study >= 0]
        draws = [rng.choice(background.n_genes, len(study), replace=False) for _ in range(n_random)]
        overlaps, tails = background.test([study, *draws])
        overlap, p, q = overlaps[0], tails[0], adjusted(tails[0])
        control = float(np.mean([adjusted(each).min() <= level for each in tails[1:]])) if n_random else math.nan
        columns = ("set", "title", "overlap", "genes", "set_size", "background", "p", "q")
        rows = []
        for k in np.lexsort((-overlap, p))[: np.count_nonzero(overlap)]:
            key, sizes = background.keys[k], (int(overlap[k]), len(study), int(background.sizes[k]), background.n_genes)
            values = (key, sets.titles[key], *sizes, float(p[k]), float(q[k]))
            rows.append(name | dict(zip(columns, values, strict=True)))
        terms += rows
        best = rows[0] if rows else {"set": "", "title": "", "p": math.nan, "q": math.nan}
        hits = [background.keys[k] for k in np.flatnonzero(q <= level)]
        enriched |= set(hits)
        counts = {"genes": len(chosen), "annotated": len(study), "n_enriched": len(hits), "best": best["set"]}
        biclusters.append(name | counts | {key: best[key] for key in ("title", "p", "q")} | {"random": control})
    some = [(row["n_enriched"] > 0, row["random"]) for row in biclusters] or [(math.nan, math.nan)]
    share, control = map(float, np.mean(some, axis=0))
    scores = {"share_enriched": share, "share_enriched_random": control, "share_beyond_random": share - control}
    scores["distinct_sets"] = float(len(enriched))
    return Enrichment(scores, biclusters, terms, background.counts, level, background.lowest_p)


class _Background:
    """The annotated genes of a matrix, and which of the tested sets each belongs to."""

    def __init__(self, matrix: Matrix, sets: GeneSets, genes: str, min_size: int) -> None:
        from scipy.sparse import csr_array

        labels = matrix.row_labels if genes == "rows" else matrix.col_labels
        if labels is None:
            other = Option("genes", "columns" if genes == "rows" else "rows")
            what = f"{matrix.name} has no names of genes: its {genes} have no labels. Read it with its labels, "
            raise MatrixError(Advice(what, "or say that the genes are on the other side: ", other, "."))
        known = sets.known_as(labels)
        place = {name: i for i, name in enumerate(dict.fromkeys(name for name in known if name is not None))}
        if not place:
            there, here = first_few(sorted(sets.genes), 3), first_few(list(labels), 3)
            said = f"{sets.name} and {matrix.name} share no gene: {there} there, {here} here."
            raise ParameterError(f"{said} Are these names of the same kind, and are the genes on the {genes}?")
        self.numbers = np.array([-1 if name is None else place[name] for name in known])  # two labels of one gene: one
        self.n_genes = len(place)
        inside = {key: [place[gene] for gene in own if gene in place] for key, own in sets.members.items()}
        tested = {key: own for key, own in inside.items() if len(own) >= min_size}
        if not tested:
            known_are = f"{self.n_genes:,} of {len(labels):,} {genes[:-1]} names {'is' if self.n_genes == 1 else 'are'}"
            if self.n_genes < len(labels) / 10:
                raise ParameterError(f"{known_are} known to the gene sets: are they of the same organism and naming?")
            few = f"{plural(min_size, 'gene')} of the {self.n_genes:,} that {matrix.name} shares with them"
            raise ParameterError(f"no set of {sets.name} has {few}. Lower min_size.")
        self.keys = list(tested)
        self.sizes: Ints = np.array([len(own) for own in tested.values()], dtype=np.int64)
        columns, ends = np.concatenate(list(tested.values())), np.concatenate([[0], np.cumsum(self.sizes)])
        self._sets = csr_array((np.ones(len(columns), np.int64), columns, ends), shape=(len(tested), self.n_genes))
        self.counts = {"genes": len(labels), "annotated": self.n_genes, "sets": len(tested)}
        # a list that is the set itself is one of all lists of its size; their number is largest at half of the genes
        self.lowest_p = 1 / math.comb(self.n_genes, int(self.sizes[np.abs(2 * self.sizes - self.n_genes).argmin()]))

    def test(self, studies: Sequence[Ints]) -> tuple[Ints, Floats]:
        """Return how many genes lists of one length share with each set, and P(at least as many)."""
        from scipy.stats import hypergeom

        chosen = np.zeros((self.n_genes, len(studies)), dtype=np.int64)
        for k, study in enumerate(studies):
            chosen[study, k] = 1
        overlap: Ints = (self._sets @ chosen).T
        # each pair of overlap and set size is worked out once
        pairs, place = np.unique(overlap * (self.n_genes + 1) + self.sizes, return_inverse=True)
        k, sizes = np.divmod(pairs, self.n_genes + 1)
        p = np.where(k == 0, 1.0, hypergeom.sf(k - 1, self.n_genes, sizes, len(studies[0])))
        return overlap, np.asarray(np.minimum(p, 1.0)[place].reshape(overlap.shape))


def adjusted(p: Floats) -> Floats:
    """Return the q-values of Benjamini and Hochberg; NaN stays."""
    from scipy.stats import false_discovery_control

    q, known = np.full(len(p), np.nan), ~np.isnan(p)
    if known.any():
        q[known] = false_discovery_control(p[known], method="bh")
    return q


def describe_enrichment(result: Enrichment, most: int = 3) -> list[str]:
    """Return a sentence for each enriched bicluster: its best sets."""
    named: dict[str, list[str]] = {}
    for t in result.terms:
        if t["q"] <= result.level:
            text = f"{set_name(t['set'], t['title'])} ({t['overlap']} of {t['set_size']}, q {number(t['q'])})"
            named.setdefault(t["bicluster"], []).append(text)
    more = {name: f", and {len(best) - most:,} more" if len(best) > most else "" for name, best in named.items()}
    return [f"{name}: {listing(best[:most])}{more[name]}" for name, best in named.items()]
