"""Gene Ontology: annotations (GAF) carried up the terms of an ontology (OBO)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

from bivaluate._errors import FormatError
from bivaluate.datasets.real import ontology_files
from bivaluate.enrichment.gene_sets import GeneSets
from bivaluate.io.source import Source

# Both say that what a term's genes do is done by the parent's too; other relationships do not.
_CARRIED = ("is_a", "part_of")
_GAF_COLUMNS = 15


def read_annotations(annotations: str | os.PathLike[str], ontology: str | os.PathLike[str]) -> GeneSets:
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
        raise FormatError(
            f"{source.name} and {ontology} have no term in common: for example {', '.join(unknown[:3]) or 'none'} "
            f"there, {', '.join(list(titles)[:3])} here. Do they belong together?"
        )
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
