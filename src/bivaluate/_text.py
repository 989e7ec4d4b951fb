"""Numbers, lists and options as sentences show them."""

import html
import math
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

FINAL = "-final"  # behind the key of an algorithm: the supported part of its solution, refined where that helps
#: Below this, zeros are not counted by eye: numbers are written as 1.34e-11.
SMALL = 1e-4


def number(value: float) -> str:
    """Return three significant digits; an en dash stands for undefined.

    >>> number(0.8125), number(1234.5), number(float("nan")), number(0.42), number(100.0), number(1.336e-11)
    ('0.813', '1235', '–', '0.42', '100', '1.34e-11')
    """
    if not math.isfinite(value):
        return "–"
    if value < 0:
        return f"−{number(-value)}"
    if abs(value) >= 1000 or value == 0:
        return _rounded(value, 0)
    if abs(value) < SMALL:
        return f"{value:.3g}"
    text = _rounded(value, 2 - math.floor(math.log10(abs(value))))
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(share: float) -> str:
    """Return a share in per cent.

    >>> percent(0.433), percent(0.0825), percent(0.0027), percent(0.00021)
    ('43 %', '8.3 %', '0.3 %', '0.02 %')
    """
    if not math.isfinite(share):
        return "–"
    value = 100 * share
    if value >= 9.95 or value == 0:
        return f"{_rounded(value, 0)} %"
    return f"{_rounded(value, 1 if value >= 0.1 else -math.floor(math.log10(value)))} %"


def defined(value: Any) -> Any:
    """Return a value as JSON has it: numbers that are not finite are None, wherever they stand."""
    if isinstance(value, dict):
        return {key: defined(v) for key, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [defined(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _rounded(value: float, digits: int) -> str:
    """Round halves up, as the page's scripts do, so that text and tables show the same digits."""
    return f"{Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP):f}"


def listing(items: Sequence[str], most: int | None = None) -> str:
    """Join items as a sentence does; with `most`, only the first `most` are named.

    >>> listing(["B1"]), listing(["B1", "B2"]), listing(["B1", "B2", "B3"]), listing(["B1", "B2", "B3"], 1)
    ('B1', 'B1 and B2', 'B1, B2 and B3', 'B1 and 2 more')
    """
    shown = list(items)
    if most is not None and len(shown) > most:
        shown = [*shown[:most], f"{len(shown) - most:,} more"]
    return "".join(shown) if len(shown) < 2 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def refined(algorithm: str) -> str:
    """Return how tables and sentences call an algorithm, of which the solution may be the refined one.

    >>> refined("las"), refined("las-final")
    ('las', 'las (refined)')
    """
    return f"{algorithm.removesuffix(FINAL)} (refined)" if algorithm.endswith(FINAL) else algorithm


def alternatives(items: Sequence[str]) -> str:
    """Join items of which one will do.

    >>> alternatives(["rows"]), alternatives(["rows", "columns", "cells"])
    ('rows', 'rows, columns or cells')
    """
    return " or ".join(part for part in (", ".join(items[:-1]), items[-1]) if part)


def first_few(items: Sequence[str], most: int = 10) -> str:
    """Join the first items and count the rest; nothing is shown as "none".

    >>> first_few(["B1", "B2"]), first_few(["B1", "B2", "B3"], most=1), first_few([])
    ('B1, B2', 'B1 and 2 more', 'none')
    """
    rest = len(items) - most
    return ", ".join(items[:most]) + (f" and {rest:,} more" if rest > 0 else "") or "none"


def distinct(names: Sequence[str], *finer: Sequence[str]) -> list[str]:
    """Return names no two of which are the same: repeated ones give way to the finer ones, then they are numbered.

    >>> distinct(["cc", "cc", "las"], ["cc.rds", "cc.txt", "las.json"]), distinct(["a", "a"])
    (['cc.rds', 'cc.txt', 'las'], ['a (1)', 'a (2)'])
    """
    found = list(names)
    for others in finer:
        found = [others[k] if found.count(name) > 1 else name for k, name in enumerate(found)]
    while len({*found}) < len(found):
        found = [f"{x} ({found[:k].count(x) + 1})" if found.count(x) > 1 else x for k, x in enumerate(found)]
    return found


def plural(count: int, thing: str) -> str:
    """Return a count with its noun.

    >>> plural(1, "bicluster"), plural(3, "bicluster"), plural(2000, "row")
    ('1 bicluster', '3 biclusters', '2,000 rows')
    """
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def given_command() -> str:
    """Return the command that runs, as it can be typed again; nothing where Python code does the work."""
    program = Path(sys.argv[0])
    is_ours = program.stem == "bivaluate" or program.parts[-2:] == ("bivaluate", "__main__.py")
    return shlex.join(["bivaluate", *sys.argv[1:]]) if is_ours else ""


def all_of(count: int, thing: str) -> str:
    """Return all of so many things.

    >>> all_of(2, "seed"), all_of(3, "seed")
    ('both seeds', 'all 3 seeds')
    """
    return f"both {thing}s" if count == 2 else f"all {plural(count, thing)}"


def markdown_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table.

    >>> markdown_table(["a", "b"], [["1", "x|y"]])
    '| a | b |\\n|---|---|\\n| 1 | x\\\\|y |'
    """
    lines = ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in [headings, *rows]]
    return "\n".join([lines[0], "|" + "---|" * len(headings), *lines[1:]])


def html_table(caption: str, headings: Sequence[str], rows: Sequence[Sequence[str]], *notes: str) -> str:
    """Return a small table for notebooks; every text is escaped.

    >>> html_table("1 <row>", ["a"], [["x & y"]])
    '<table><caption>1 &lt;row&gt;</caption><thead><tr><th>a</th></tr></thead><tbody><tr><td>x &amp; y</td></tr></tbody></table>'
    """  # noqa: W505
    head = "".join(f"<th>{html.escape(text)}</th>" for text in headings)
    lines = ("".join(f"<td>{html.escape(text)}</td>" for text in row) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    table = f"<caption>{html.escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    return f"<table>{table}</table>" + "".join(f"<p>{html.escape(note)}</p>" for note in notes if note)


def shared(sentences: Sequence[Sequence[str]], names: Sequence[Sequence[str]]) -> list[str]:
    """Return what is said of all of several things; not what names a part of one, as "B4 has two columns" does."""
    if len(sentences) < 2:
        return []
    called = {name for some in names for name in some}

    def own(text: str) -> bool:
        return text.startswith("…") or not called.isdisjoint(re.split(r"[^\w+]+", text))  # "… and 3 similar findings"

    return [text for text in sentences[0] if all(text in others for others in sentences) and not own(text)]


def first_line(error: BaseException) -> str:
    """Return the beginning of what an error says, for messages that quote it."""
    return (str(error).splitlines() or [type(error).__name__])[0][:160]


@dataclass(frozen=True)
class Option:
    """An option as a sentence names it: ``name=value`` in Python, and as the command line spells it there.

    `python` and `command` say it in words of their own where the two differ by more than spelling.
    """

    name: str = ""
    value: Any = None
    python: str = ""
    command: str = ""

    def __str__(self) -> str:
        return self.python or (self.name if self.value is None else f"{self.name}={self.value!r}")

    def said(self, spelling: Callable[[str], str | None]) -> str:
        """Return the option as the command line writes it; nothing where `spelling` of its name is None."""
        word = spelling(self.name)
        if self.command or not word:
            return self.command
        if self.value is None or self.value is True:
            return word.removesuffix("=")
        return f"{word}{self.value}" if word.endswith("=") else f"{word} {self.value}"


class Advice(str):
    """A sentence that names options. It reads as Python writes them, and can be said in the words of a command.

    A part that is advice itself is a clause that can be left out, where a command has no such option.

    >>> text = Advice("Impute them", Advice(", or pass ", Option("missing", "omit")), ".")
    >>> text
    "Impute them, or pass missing='omit'."
    >>> text.said({"missing": "--missing"}.get), text.said({}.get)
    ('Impute them, or pass --missing omit.', 'Impute them.')
    """

    parts: tuple[str | Option, ...]

    def __new__(cls, *parts: str | Option) -> "Advice":
        self = super().__new__(cls, "".join(map(str, parts)))
        self.parts = parts
        return self

    def __getnewargs__(self) -> tuple[str | Option, ...]:  # type: ignore[override]
        return self.parts

    def said(self, spelling: Callable[[str], str | None]) -> str:
        """Return the sentence with every option as `spelling` of its name says; unknown ones stay as they are."""
        words = []
        for part in self.parts:
            if isinstance(part, Advice):
                words.append(part.said(spelling) if part.can_be_said(spelling) else "")
            elif isinstance(part, Option):
                words.append(part.said(spelling) or str(part))
            else:
                words.append(part)
        return "".join(words)

    def can_be_said(self, spelling: Callable[[str], str | None]) -> bool:
        """Return whether every option it names has a spelling."""
        return all(part.said(spelling) for part in self.parts if isinstance(part, Option))


def packed(text: str | Option) -> Any:
    """Return a sentence as JSON holds it, with the options it names; :func:`unpacked` reads it back.

    >>> unpacked(packed(Advice("Pass ", Option("missing", "omit"), "."))).said({"missing": "--missing"}.get)
    'Pass --missing omit.'
    >>> packed("Good."), unpacked("Good.")
    ('Good.', 'Good.')
    """
    if isinstance(text, Option):
        return {"option": asdict(text)}
    return {"advice": [packed(part) for part in text.parts]} if isinstance(text, Advice) else str(text)


def unpacked(stored: Any) -> Any:
    """Return the sentence, or the option in one, that was packed."""
    if isinstance(stored, str):
        return stored
    return Option(**stored["option"]) if "option" in stored else Advice(*map(unpacked, stored["advice"]))
