"""Named sets of genes, and the GMT files they come in."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from bivaluate._errors import ParameterError
from bivaluate._text import first_few, plural
from bivaluate.io.source import Source

# letters, a mark and digits: GO:0006412, KEGG:00010, R-HSA-109581, hsa04110, WP254
_IDENTIFIER = re.compile(r"[A-Za-z-]*[:_-]?\d+")


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


def read_gmt(path: str | os.PathLike[str]) -> GeneSets:
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
            raise source.fault(
                f"the set {name[:40]!r} has no genes. A line of a GMT file is a name, a description and the genes, "
                "separated by tabs.",
                line,
            )
        if name in members:
            raise source.fault(f"a second set is called {name[:40]!r}.", line)
        members[name] = genes
        if rest[0] and rest[0].lower() not in ("na", "null") and "://" not in rest[0]:
            titles[name] = rest[0]
    return GeneSets(members, titles, name=source.name)
