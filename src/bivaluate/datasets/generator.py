"""Plant biclusters of known structure in a random matrix: what each block is, where it lies, what it shares."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from bivaluate._check import check_choice, check_int, check_real, check_seed
from bivaluate._errors import ParameterError, suggest
from bivaluate._types import Floats, Ints
from bivaluate.solution import Biclustering

SHARED = ("noise", "level", "row_effect", "col_effect")  # by all blocks that are cut out of one matrix
MODELS = ("additive", "scaling", "shift_scale", "constant", "clone")

Members = tuple[Ints, Ints]


@dataclass(frozen=True)
class Block:
    """One bicluster to plant: its size, its pattern, its noise, and what it shares with the block before it.

    Effects have exactly the standard deviation asked for (ddof 0) over the block, so that one seed is
    already typical; ranges are equally spaced values, both ends included, in random order.

    Parameters
    ----------
    rows, cols : int
        Size of the block.
    model : {"additive", "scaling", "shift_scale", "constant", "clone"}
        ``"additive"``: ``level + alpha_i + beta_j``; ``"scaling"``: ``level + s_i * p_j``;
        ``"shift_scale"``: ``level + alpha_i + s_i * beta_j``; ``"constant"``: every column at its own
        constant; ``"clone"``: additive, on the columns and with the ``beta`` of the block before it.
    noise, level : float
        Standard deviation of the Gaussian noise added to every cell; base level (mu).
    row_effect, col_effect : float
        Standard deviations of ``alpha`` and ``beta``.
    scale, pattern : tuple of two floats
        Ranges of ``s`` (for ``"shift_scale"`` of ``abs(s)``) and of ``p``; in ``"constant"`` the constants run from
        the first to the second value of `pattern` in column order.
    negative : float
        Share of rows with a negative ``s`` in ``"shift_scale"``.
    shared_rows, shared_cols : int, or None for columns
        Rows and columns kept from the block before it. Rows are otherwise used once. Columns are
        otherwise new to every block if `shared_cols` is given, and placed freely if it is ``None``.

    Raises
    ------
    ParameterError
        If a size, a range or the model is not allowed.

    See Also
    --------
    make_biclusters

    Examples
    --------
    >>> Block(30, 15, noise=0.3, row_effect=2.0).model
    'additive'
    """

    rows: int
    cols: int
    model: str = "additive"
    noise: float = 0.0
    level: float = 0.0
    row_effect: float = 0.0
    col_effect: float = 0.0
    scale: tuple[float, float] = (1.0, 1.0)
    pattern: tuple[float, float] = (0.0, 0.0)
    negative: float = 0.0
    shared_rows: int = 0
    shared_cols: int | None = None

    def __post_init__(self) -> None:
        check_int("rows of a block", self.rows, minimum=1)
        check_int("cols of a block", self.cols, minimum=1)
        check_choice("model of a block", self.model, MODELS)
        for name in ("noise", "row_effect", "col_effect"):
            check_real(f"{name} of a block", getattr(self, name), minimum=0)
        check_real("level of a block", self.level)
        check_real("negative of a block", self.negative, minimum=0, maximum=1)
        for name in ("scale", "pattern"):
            object.__setattr__(self, name, _check_range(name, getattr(self, name)))
        check_int("shared_rows of a block", self.shared_rows, minimum=0)
        if self.shared_cols is not None:
            check_int("shared_cols of a block", self.shared_cols, minimum=0)


def make_biclusters(
    shape: Sequence[int],
    blocks: Iterable[Block | Mapping[str, Any]],
    *,
    random_state: int | Sequence[int],
    background: float = 1.0,
    effects: str = "block",
    placement: str = "random",
    shuffle: bool = True,
) -> tuple[Floats, Biclustering, dict[str, Any]]:
    """Plant blocks in a matrix of Gaussian background and return the matrix, the truth and the recipe.

    Parameters
    ----------
    shape : sequence of two ints
        Rows and columns of the matrix.
    blocks : iterable of Block or mapping
        What to plant, in order: :class:`Block` or its fields as a mapping.
    random_state : int or sequence of int
        A seed, or a sequence of whole numbers as :class:`numpy.random.SeedSequence` takes them. The same
        seed gives the same memberships everywhere, and values equal to rounding.
    background : float, default=1.0
        Standard deviation of the cells outside the blocks; their mean is 0.
    effects : {"block", "matrix"}, default="block"
        ``"block"``: every block draws its own effects and noise and replaces the background.
        ``"matrix"``: one additive matrix, with its row effects scaled over all rows and its column effects
        over all columns used, is cut into the blocks, so that overlapping blocks agree on shared cells;
        all blocks then need the same parameters.
    placement : {"random", "stacked"}, default="random"
        ``"random"``: each block's columns are its own random subset; ``"stacked"``: blocks lie side by
        side, starting again at the first column when the columns run out.
    shuffle : bool, default=True
        Permute the rows and the columns; without it the blocks lie one below the other from the top.

    Returns
    -------
    X : ndarray
        The matrix.
    truth : Biclustering
        The planted biclusters, in the order of `blocks`.
    recipe : dict
        Everything that determines X, ready for JSON: ``make_biclusters(**recipe)`` makes it again.

    Raises
    ------
    ParameterError
        If the blocks do not fit into the matrix, or share more than they have.

    See Also
    --------
    make_scenario

    Examples
    --------
    >>> X, truth, recipe = make_biclusters((20, 8), [Block(5, 4, row_effect=1.0)], random_state=0)
    >>> X.shape, truth[0].shape
    ((20, 8), (5, 4))
    >>> bool((make_biclusters(**recipe)[0] == X).all())
    True
    """
    n_rows, n_cols = _check_shape(shape)
    planned = [_check_block(block, k) for k, block in enumerate(blocks)]
    check_real("background", background, minimum=0)
    check_choice("effects", effects, ("block", "matrix"))
    several = isinstance(random_state, (list, tuple))
    seed: Any = [check_seed(part) for part in random_state] if several else check_seed(random_state)  # type: ignore[union-attr]
    if effects == "matrix":
        _check_same_parameters(planned)
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed)))
    members = _place(planned, (n_rows, n_cols), placement, shared_cells=effects == "matrix", rng=rng)
    X = background * rng.standard_normal((n_rows, n_cols))
    if effects == "matrix" and planned:
        _cut_from_one_matrix(X, planned[0], members, rng)
    else:
        _fill_each(X, planned, members, rng)
    if shuffle:
        row_order, col_order = rng.permutation(n_rows), rng.permutation(n_cols)
        X = np.ascontiguousarray(X[np.ix_(row_order, col_order)])
        row_place, col_place = np.argsort(row_order), np.argsort(col_order)
        members = [(row_place[rows], col_place[cols]) for rows, cols in members]
    kept = [{name: list(v) if isinstance(v, tuple) else v for name, v in asdict(block).items()} for block in planned]
    recipe = {"shape": [n_rows, n_cols], "blocks": kept, "random_state": seed, "background": float(background)}
    recipe |= {"effects": effects, "placement": placement, "shuffle": bool(shuffle)}
    return X, Biclustering(members, (n_rows, n_cols)), recipe


def _place(
    blocks: Sequence[Block], shape: tuple[int, int], placement: str, shared_cells: bool, rng: np.random.Generator
) -> list[Members]:
    """Return the rows and columns of each block in a matrix of `shape`, before any shuffling.

    A block that shares rows or columns keeps the last ones of the block before it, so that a chain of
    blocks slides over the matrix. `shared_cells` says whether two blocks may own the same cell.
    """
    check_choice("placement", placement, ("random", "stacked"))
    _check_fit(blocks, shape)
    members: list[Members] = []
    next_row = next_col = 0
    for k, block in enumerate(blocks):
        before_rows, before_cols = members[-1] if members else (np.zeros(0, int), np.zeros(0, int))
        kept = before_rows[len(before_rows) - block.shared_rows :]
        new = block.rows - block.shared_rows
        rows = np.concatenate([kept, np.arange(next_row, next_row + new)]).astype(np.int64)
        next_row += new
        if block.model == "clone":
            cols = before_cols
        elif block.shared_cols is not None:
            cols = _chained_columns(k, block, members, shape[1])
        elif placement == "random":
            cols = rng.permutation(shape[1])[: block.cols].astype(np.int64)
        else:
            cols = (next_col + np.arange(block.cols, dtype=np.int64)) % shape[1]
        next_col = (int(cols[-1]) + 1) % shape[1]
        if block.shared_rows and not shared_cells and np.isin(cols, before_cols).any():
            both = f"{block.shared_rows} rows and {int(np.isin(cols, before_cols).sum())} columns"
            found = f"blocks {k} and {k + 1} overlap in {both}, and a value in both cannot follow two patterns"
            how = "pass effects='matrix' to cut both out of one matrix, or share only rows or only columns"
            raise ParameterError(f"{found}; {how}.")
        members.append((rows, cols))
    return members


def _chained_columns(k: int, block: Block, members: Sequence[Members], n_cols: int) -> Ints:
    """Return the last `shared_cols` columns of the block before, then columns no block has used yet."""
    shared = block.shared_cols or 0
    before = members[-1][1] if members else np.zeros(0, dtype=np.int64)
    free = np.setdiff1d(np.arange(n_cols), np.concatenate([before, *(cols for _, cols in members)]))
    needed = block.cols - shared
    if needed > len(free):
        found = f"block {k + 1} needs {needed} columns that no earlier block uses, but only {len(free)} of {n_cols}"
        raise ParameterError(f"{found} are free. Share more columns, or make the matrix wider.")
    return np.concatenate([before[len(before) - shared :], free[:needed]]).astype(np.int64)


def _check_fit(blocks: Sequence[Block], shape: tuple[int, int]) -> None:
    """Refuse blocks that are larger than the matrix or share more than they have."""
    n_rows, n_cols = shape
    for k, block in enumerate(blocks):
        name, before = f"block {k + 1}", (blocks[k - 1].rows, blocks[k - 1].cols) if k else (0, 0)
        if block.rows > n_rows or block.cols > n_cols:
            cells = f"{block.rows} x {block.cols} cells"
            raise ParameterError(f"{name} has {cells}, but the matrix has only {n_rows} x {n_cols}.")
        if block.model == "clone" and (k == 0 or block.cols != before[1]):
            columns = f"with {block.cols} columns of a block with {before[1]}"
            there = columns if k else "and there is no block before it to clone"
            raise ParameterError(f"{name} is a clone {there}; a clone has the columns of the block before it.")
        sides = ("rows", block.shared_rows, block.rows), ("columns", block.shared_cols or 0, block.cols)
        for (what, shared, own), other in zip(sides, before, strict=True):
            if shared > min(own, other):
                have = f"it has {own} {what} and the block before it {other}; at most {min(own, other)} can be shared"
                raise ParameterError(f"{name} shares {shared} {what} with the block before it, but {have}.")
    needed = sum(block.rows - block.shared_rows for block in blocks)
    if needed > n_rows:
        found = f"the blocks need {needed} rows together, but the matrix has only {n_rows}"
        how = "rows are used once unless they are shared. Make the blocks smaller, or the matrix taller"
        raise ParameterError(f"{found}: {how}.")


def _fill_each(X: Floats, blocks: list[Block], members: list[Members], rng: np.random.Generator) -> None:
    beta = np.zeros(0)
    for block, (rows, cols) in zip(blocks, members, strict=True):
        if block.model != "clone":
            beta = _exact(rng, block.cols, block.col_effect)
        signal = _signal(block, beta, rng)
        X[np.ix_(rows, cols)] = signal + block.noise * rng.standard_normal((block.rows, block.cols))


def _signal(block: Block, beta: Floats, rng: np.random.Generator) -> Floats:
    """Return the noise-free values of a block; `beta` are its column effects."""
    if block.model == "constant":
        return block.level + np.tile(np.linspace(*block.pattern, block.cols), (block.rows, 1))
    if block.model == "scaling":
        s, p = _even(rng, block.rows, block.scale), _even(rng, block.cols, block.pattern)
        return block.level + np.multiply.outer(s, p)
    alpha = _exact(rng, block.rows, block.row_effect)
    if block.model == "shift_scale":
        s = _even(rng, block.rows, block.scale)
        s[rng.permutation(block.rows)[: int(block.negative * block.rows + 0.5)]] *= -1
        return block.level + alpha[:, None] + np.multiply.outer(s, beta)
    return block.level + np.add.outer(alpha, beta)


def _cut_from_one_matrix(X: Floats, block: Block, members: list[Members], rng: np.random.Generator) -> None:
    used = np.unique(np.concatenate([cols for _, cols in members]))
    beta = np.zeros(X.shape[1])
    beta[used] = _exact(rng, len(used), block.col_effect)
    whole = block.level + np.add.outer(_exact(rng, X.shape[0], block.row_effect), beta)
    whole += block.noise * rng.standard_normal(X.shape)
    for rows, cols in members:
        X[np.ix_(rows, cols)] = whole[np.ix_(rows, cols)]


def _exact(rng: np.random.Generator, n: int, sd: float) -> Floats:
    """Return normal draws, centred and rescaled so that their standard deviation is exactly `sd`."""
    draws = rng.standard_normal(n)
    draws -= draws.mean()
    spread = float(draws.std())
    return draws * (sd / spread) if n > 1 and spread > 0 else np.zeros(n)


def _even(rng: np.random.Generator, n: int, limits: tuple[float, float]) -> Floats:
    return np.linspace(*limits, n)[rng.permutation(n)]


def _check_shape(shape: Sequence[int]) -> tuple[int, int]:
    if not isinstance(shape, Sequence) or len(shape) != 2:
        raise ParameterError(f"shape is {shape!r}; two numbers (rows, columns) are needed.")
    return check_int("rows of shape", shape[0], minimum=1), check_int("columns of shape", shape[1], minimum=1)


def _check_block(block: Block | Mapping[str, Any], k: int) -> Block:
    if isinstance(block, Block):
        return block
    if not isinstance(block, Mapping):
        raise ParameterError(f"block {k + 1} is {block!r}; a Block, or a mapping of its fields, is needed.")
    fields = [field.name for field in dataclasses.fields(Block)]
    if wrong := next((str(name) for name in block if name not in fields), None):
        known = f"fields: {', '.join(fields)}.{suggest(wrong, fields)}"
        raise ParameterError(f"block {k + 1} has no field {wrong!r}; {known}")
    if lacking := next((name for name in ("rows", "cols") if name not in block), None):
        raise ParameterError(f"block {k + 1} has no {lacking!r}.")
    return Block(**block)


def _check_range(name: str, limits: Any) -> tuple[float, float]:
    if not isinstance(limits, (list, tuple)) or len(limits) != 2:
        raise ParameterError(f"{name} of a block is {limits!r}; two numbers (from, to) are needed.")
    return check_real(f"{name} of a block", limits[0]), check_real(f"{name} of a block", limits[1])


def _check_same_parameters(blocks: list[Block]) -> None:
    for k, block in enumerate(blocks):
        for name, needed in {"model": "additive", **{name: getattr(blocks[0], name) for name in SHARED}}.items():
            if getattr(block, name) != needed:
                found = f"block {k + 1} has {name} {getattr(block, name)}, block 1 has {getattr(blocks[0], name)}"
                why = "all are cut out of one additive matrix and need the same parameters"
                raise ParameterError(f"{found}; with effects='matrix' {why}.")
