"""`bivaluate algorithms`: the registry as a table."""

from typing import Any

from bivaluate._text import listing
from bivaluate.cli._types import Algorithm
from bivaluate.cli.options import Csv, Json, One
from bivaluate.cli.tables import err, give, out, print_table

TAKES = ("sparse", "missing", "binary", "nonnegative", "nested", "finds_k")
FIELDS = ("key", "label", "name", "summary", "seeks", *TAKES, "extra", "reference")


def algorithms(key: One = None, as_json: Json = False, csv: Csv = None) -> None:
    """List the algorithms: what they seek, which data they take, and whether they find the number of biclusters.

    Examples:

    - `bivaluate algorithms`
    - `bivaluate algorithms las`
    - `bivaluate algorithms --csv algorithms.csv`
    """
    from bivaluate.algorithms.registry import ALGORITHMS, get_algorithm, recipes
    from bivaluate.sweep.portfolio import PORTFOLIO

    records = [get_algorithm(key)] if key else list(ALGORITHMS.values())
    documents = [_document(record) for record in records] if as_json or csv else []
    lines = [{**document, "seeks": "; ".join(document["seeks"])} for document in documents]
    if give(lines, documents, csv, as_json):
        return
    if key:
        _describe(records[0])
    else:
        rows = []
        for record in records:
            traits = ("yes" * has for has in (record.sparse, record.missing, record.binary, record.nested))
            k = "found" if record.finds_k else "asked for"
            rows.append([record.key, ", ".join(record.seeks), *traits, k, record.published])
        print_table(["key", "seeks", "sparse", "missing", "binary", "nested", "K is", "reference"], rows)
        err.print(f"`bivaluate find`, and a sweep by default, run what fits the data of {listing(list(PORTFOLIO))}.")
        err.print(f"Programs outside bivaluate: cmd:COMMAND, or recipe:NAME ({', '.join(recipes())}, or a .toml file).")


def _document(record: Algorithm) -> dict[str, Any]:
    from bivaluate.algorithms.registry import parameters_of

    return {field: getattr(record, field) for field in FIELDS} | {"parameters": parameters_of(record.key)}


def _describe(record: Algorithm) -> None:
    import inspect

    from bivaluate.algorithms.registry import parameters_of

    out.print(record.label, style="bold", end="")
    out.print(f" ({record.key}): {record.name}\n{record.summary}")
    takes = ["dense", *(["sparse"] if record.sparse else [])]
    refused = [*(["negative"] if record.nonnegative else []), *([] if record.missing else ["missing"])]
    refusal = f", no {' or '.join(refused)} values" if refused else ""
    out.print(f"Seeks: {', '.join(record.seeks)}. Takes: {listing(takes)} matrices{refusal}.")
    if record.extra:
        out.print(f'Needs the extra {record.extra}: in a clone, pip install ".[{record.extra}]".')
    parameters = ", ".join(f"{name}={value}" for name, value in parameters_of(record.key).items())
    out.print(f"--param {parameters}" if parameters else "It has no parameters of its own.")
    out.print(f"Reference: {record.reference}\n")
    out.print(inspect.getdoc(record.estimator) or "", soft_wrap=True)
