"""Lines of code of every room below a folder: docstrings, comments and blank lines are not counted, tables in TOML are.

python benchmarks/size.py src/bivaluate
"""

import ast
import collections
import sys
import tokenize
from pathlib import Path

DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
NO_CODE.add(tokenize.ENCODING)


def lines_of_code(path: Path) -> int:
    """Return how many lines of a file hold code, or of a TOML file anything."""
    if path.suffix == ".toml":
        return sum(bool(line.partition("#")[0].strip()) for line in path.read_text(encoding="utf-8").splitlines())
    with path.open("rb") as stream:
        tokens = [token for token in tokenize.tokenize(stream.readline) if token.type not in NO_CODE]
    code = {line for token in tokens for line in range(token.start[0], token.end[0] + 1)}
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            code -= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return len(code)


if __name__ == "__main__":
    root, rooms = Path(sys.argv[1]), collections.Counter()
    for path in (*root.rglob("*.py"), *root.rglob("*.toml")):
        parts = path.relative_to(root).parts
        rooms[parts[0] if len(parts) > 1 else "(top)"] += lines_of_code(path)
    for room, lines in rooms.most_common():
        print(f"{lines:7,} {room}")
    print(f"{rooms.total():7,} lines of code")
