"""Named sets of genes and the files they come in: GMT, or annotations (GAF) carried up an ontology (OBO)."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter

from bivaluate._errors import FormatError, ParameterError
from bivaluate._files import FilePath
from bivaluate._text import first_few, plural
from bivaluate.io.source import Source

# letters, a mark and digits: GO:0006412, KEGG:00010, R-HSA-109581, hsa04110, WP254
_IDENTIFIER = re.compile(r"[A-Za-z-]*[:_-]?\d+")
# Both say that what a term's genes do is done by the parent's too; other relationships do not.
_CARRIED = ("is_a", "part_of")
_GAF_COLUMNS = 15


@dataclass(frozen=True)
class GeneSets:
    """Sets of genes by key, such as GO terms or pathways.

    Parameters
    ----------
    members, titles : mapping by key
        The genes of each set, and what it is called; its key where it has no title.
    other_names : mapping of str to str, optional
        Other names of a gene, each with the name that `members` uses.
    name : str, default="gene sets"
        What messages call them.

    Raises
    ------
    ParameterError
        If there are no sets, or one of them is empty.

    See Also
    --------
    read_gmt, read_annotations

    Examples
    --------
    >>> GeneSets({"ribosome": ["RPL1", "RPL2"], "stress": ["HSP12"]})
    GeneSets(2 sets of 3 genes)
    """

    members: Mapping[str, frozenset[str]]
    titles: Mapping[str, str] = field(default_factory=dict)
    other_names: Mapping[str, str] = field(default_factory=dict)
    name: str = "gene sets"

    def __post_init__(self) -> None:
        members = {str(key): frozenset(map(str, genes)) for key, genes in self.members.items()}
        if not members:
            raise ParameterError(f"{self.name}: there are no sets of genes.")
        empty = [key for key, genes in members.items() if not genes]
        if empty:
            raise ParameterError(f"{self.name}: {plural(len(empty), 'set')} without any gene: {first_few(empty, 3)}.")
        object.__setattr__(self, "members", members)
        object.__setattr__(self, "titles", {key: self.titles.get(key, key) for key in members})

    @property
    def genes(self) -> frozenset[str]:
        """Every gene that is in some set, as `members` names it.

        Returns
        -------
        frozenset of str
            Their names.

        Examples
        --------
        >>> sorted(GeneSets({"a": ["x", "y"], "b": ["y"]}).genes)
        ['x', 'y']
        """
        return frozenset().union(*self.members.values())

    def known_as(self, labels: Iterable[str]) -> list[str | None]:
        """Return the name under which the sets know each label; None for a gene that is in no set.

        Parameters
        ----------
        labels : iterable of str
            Names of genes, as a matrix has them. If a name is not found as it is, case is ignored.

        Returns
        -------
        list of str or None
            One entry per label.

        Examples
        --------
        >>> GeneSets({"a": ["SPT23"]}, other_names={"YKL020C": "SPT23"}).known_as(["YKL020C", "spt23", "Actb"])
        ['SPT23', 'SPT23', None]
        """
        exact = {**self.other_names, **{gene: gene for gene in self.genes}}
        capitals = {name.upper(): gene for name, gene in self.other_names.items()}
        capitals |= {gene.upper(): gene for gene in sorted(self.genes, reverse=True)}
        return [exact.get(label) or capitals.get(label.upper()) for label in labels]

    def __len__(self) -> int:
        return len(self.members)

    def __repr__(self) -> str:
        return f"GeneSets({plural(len(self), 'set')} of {plural(len(self.genes), 'gene')})"


def set_name(key: str, title: str) -> str:
    """Return what a set is called where people read it: its name, with its title where the name is an identifier."""
    return f"{key} {title}" if title != key and _IDENTIFIER.fullmatch(key) else key


def read_gmt(path: FilePath) -> GeneSets:
    """Read a GMT file: one set per line, its name, a description and its genes, separated by tabs.

    Parameters
    ----------
    path : str or path-like
        The file, gzipped or not.

    Returns
    -------
    GeneSets
        The sets by name; a description that is not empty, "na" or an address becomes the title.

    Raises
    ------
    FileError
        If it cannot be read.
    FormatError
        If a line has no genes, or two lines have one name.

    See Also
    --------
    read_annotations, enrich

    Examples
    --------
    >>> read_gmt("pathways.gmt")  # doctest: +SKIP
    GeneSets(186 sets of 5245 genes)
    """
    source = Source(path)
    members: dict[str, frozenset[str]] = {}
    titles: dict[str, str] = {}
    for line, text in source.filled_lines():
        name, *rest = (part.strip() for part in text.split("\t"))
        # Some files weight genes as "GENE,1.0".
        genes = frozenset(part.split(",")[0] for part in rest[1:] if part)
        if not genes:
            what = "A line of a GMT file is a name, a description and the genes, separated by tabs."
            raise source.fault(f"the set {name[:40]!r} has no genes. {what}", line)
        if name in members:
            raise source.fault(f"a second set is called {name[:40]!r}.", line)
        members[name] = genes
        if rest[0] and rest[0].lower() not in ("na", "null") and "://" not in rest[0]:
            titles[name] = rest[0]
    return GeneSets(members, titles, name=source.name)


def read_annotations(annotations: FilePath, ontology: FilePath) -> GeneSets:
    """Read gene annotations (GAF) and carry them up an ontology (OBO), along is_a and part_of.

    A gene of a term belongs to every term above it. Annotations with NOT and to obsolete terms are left out.

    Parameters
    ----------
    annotations : str or path-like
        A GAF file (2.0 to 2.2), gzipped or not. Genes go by their symbol; identifier and synonyms are other names.
    ontology : str or path-like
        An OBO file, gzipped or not.

    Returns
    -------
    GeneSets
        One set per term that has a gene.

    Raises
    ------
    FileError
        If a file cannot be read.
    FormatError
        If a line does not follow the format, the terms form a cycle, or the two have no term in common.

    See Also
    --------
    load_yeast_ontology, read_gmt

    Examples
    --------
    >>> read_annotations("sgd.gaf.gz", "go-basic.obo")  # doctest: +SKIP
    GeneSets(8057 sets of 6474 genes)
    """
    titles, parents, alternatives = _read_terms(Source(ontology))
    source = Source(annotations)
    direct: dict[str, set[str]] = {}
    other_names: dict[str, str] = {}
    unknown: list[str] = []
    for fields in _annotations(source):
        identifier, symbol, term = fields[1], fields[2], alternatives.get(fields[4], fields[4])
        for other in (identifier, *fields[10].split("|")):
            if other:
                other_names.setdefault(other, symbol)
        if term in titles:
            direct.setdefault(term, set()).add(symbol)
        else:
            unknown.append(term)
    if not direct:
        there, here = ", ".join(unknown[:3]) or "none", ", ".join(list(titles)[:3])
        common = f"have no term in common: for example {there} there, {here} here. Do they belong together?"
        raise FormatError(f"{source.name} and {ontology} {common}")
    members: dict[str, set[str]] = {}
    try:
        order = list(TopologicalSorter(parents).static_order())
    except CycleError as error:
        raise FormatError(f"{ontology}: the terms form a cycle: {' → '.join(error.args[1][::-1][:8])}.") from None
    for term in reversed(order):  # every term before those above it
        if genes := direct.get(term, set()) | members.get(term, set()):
            members[term] = genes
            for parent in parents[term]:
                members.setdefault(parent, set()).update(genes)
    sets = {key: frozenset(members[key]) for key in sorted(members)}
    return GeneSets(sets, {key: titles[key] for key in sets}, other_names, name=source.name)


def load_yeast_ontology() -> GeneSets:
    """Return the Gene Ontology annotations of yeast (SGD, May 2022); they are fetched on first use.

    They travel in the archive that holds the yeast matrices.

    Returns
    -------
    GeneSets
        One set per GO term; genes go by symbol, systematic names (YAL001C) and synonyms.

    Raises
    ------
    FileError
        If they have to be fetched and cannot be.

    See Also
    --------
    read_annotations, enrich

    Examples
    --------
    >>> load_yeast_ontology()  # doctest: +SKIP
    """
    from bivaluate.datasets.real import ontology_files

    return read_annotations(*ontology_files())


def _annotations(source: Source) -> Iterator[list[str]]:
    for line, text in source.filled_lines():
        fields = text.split("\t")
        if text.startswith("!") or (len(fields) > 3 and "NOT" in fields[3].split("|")):
            continue
        if len(fields) < _GAF_COLUMNS:
            what = f"{len(fields)} fields separated by tabs; a line of a GAF file has at least {_GAF_COLUMNS}."
            raise source.fault(what, line)
        yield fields


def _read_terms(source: Source) -> tuple[dict[str, str], dict[str, list[str]], dict[str, str]]:
    """Return titles and parents of the terms that are not obsolete, and the term behind each other identifier."""
    stanzas: list[dict[str, list[str]]] = []
    stanza: dict[str, list[str]] = {}
    for _, text in source.filled_lines():
        if text.startswith("["):
            stanza = {}
            stanzas += [stanza] if text.strip() == "[Term]" else []
            continue
        tag, _, value = text.partition(":")
        said = value if tag == "name" else value.partition(" ! ")[0]
        stanza.setdefault(tag.strip(), []).append(said.strip())
    terms = {own["id"][0]: own for own in stanzas if own.get("id") and "true" not in own.get("is_obsolete", ())}
    if not terms:
        raise FormatError(f"{source.name} has no terms: it is not an ontology in OBO format.")
    parents = {}
    for key, own in terms.items():
        related = (value.split() for value in own.get("relationship", ()))
        parts = [value[1] for value in related if len(value) > 1 and value[0] in _CARRIED]
        parents[key] = [term for term in dict.fromkeys(own.get("is_a", []) + parts) if term in terms]
    alternatives = {other: key for key, own in terms.items() for other in own.get("alt_id", ())}
    return {key: own.get("name", [key])[0] for key, own in terms.items()}, parents, alternatives
