"""The examples of the command line reference: one thread that can be typed from an empty folder, from top to bottom."""

import re
import shlex
from itertools import pairwise
from pathlib import Path

REFERENCE = Path(__file__).parents[2] / "docs" / "cli.md"
EXAMPLE = {"expression.csv", "solution.json", "biclust.txt", "sets.gmt", "samples.csv"}
TARGETS = {"-o", "--out", "--csv", "--report", "--consensus"}
# What takes minutes, or needs a network or other machines: its files are looked up, and nothing is run.
SLOW = r"find |replicate|benchmark|sweep .*(\*|wide)|datasets (fetch|write)|doctor --warm|scenarios planted$"


def examples() -> list[list[str]]:
    """The words of every example, but of those for a reader's own files."""
    found, own = [], False
    for line in REFERENCE.read_text(encoding="utf-8").splitlines():
        own = (own or line == "With files of your own:") and not line.startswith(("#", "Examples:"))
        if line.startswith("- `bivaluate ") and not own:
            named = re.findall(r"`(bivaluate [^`]+)`", line.split(" (")[0])  # remarks in brackets name commands, too
            found += [shlex.split(words)[1:] for words in named]
    return found


def files_of(words: list[str]) -> tuple[set[str], set[str]]:
    """Which files and folders an example reads, and which it writes."""
    written = {name for option, name in pairwise(words) if option in TARGETS}
    if words[0] == "convert" or words[:2] == ["datasets", "write"]:
        written.add(words[2] if words[0] == "convert" else words[3])
    if words[:2] == ["find", "expression.csv"] and not written:
        written.add("expression.find.json")
    named = {word for word in words[1:] if re.search(r"\.(csv|tsv|json|txt|gmt|h5ad|npy|toml|blocks|whl)$", word)}
    if words[0] in ("select", "report", "doctor"):
        named |= {word for word in words[1:2] if not word.startswith("-")}
    return named - written, written


def test_every_file_an_example_names_was_written_by_one_before_it():
    there = set()
    for words in examples():
        read, written = files_of(words)
        there |= EXAMPLE if words == ["example"] else written
        assert read <= there | {"biclustlib-0.0.13-py3-none-any.whl"}, words
        there |= written


def test_the_examples_run_as_they_stand(run, tmp_path):
    assert run("example").code == 0
    assert run("find", "expression.csv", "-a", "las", "-o", "found.json").code == 0
    for words in examples():
        if words != ["example"] and not re.match(SLOW, " ".join(words)):
            words = ["1" if before == "--jobs" else word for before, word in zip(["", *words], words, strict=False)]
            done = run(*words)
            assert done.code == 0, (words, done.err)
    assert (
        "100 % treated" in run("traits", "found.json", "--matrix", "expression.csv", "--annotations", "samples.csv").out
    )
