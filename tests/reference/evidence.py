"""The naive twin of the evidence: one cell after the other, everything computed again whenever it is asked for."""

import math
from statistics import NormalDist, median

import numpy as np

SHARED, RESTORED, MOST = 0.1, 2.0, 0.98


def cells_of(X, rows, cols):
    return [(i, j) for i in rows for j in cols if not math.isnan(X[i][j])]


def family(X):
    n, m = X.shape
    values = [X[i][j] for i, j in cells_of(X, range(n), range(m))]
    zeros = sum(value == 0 for value in values)
    return "weights" if min(values) >= 0 and zeros >= 0.2 * len(values) and max(values) > 0 else "normal"


def unskewed(X):
    """log2(1 + x/u) of values that are not negative and heavily skewed; others as they are."""
    n, m = X.shape
    values = [X[i][j] for i, j in cells_of(X, range(n), range(m))]
    if family(X) == "weights" or min(values) < 0 or set(values) <= {0, 1}:
        return X
    mean = sum(values) / len(values)
    square, cube = (sum((value - mean) ** power for value in values) / len(values) for power in (2, 3))
    if cube <= 2 * square**1.5:
        return X
    whole = all(value == round(value) for value in values)
    unit = 1.0 if whole else median([value for value in values if value > 0])
    return np.array([[math.log2(1 + value / unit) for value in row] for row in X])


def log_choose(n, r):
    return math.lgamma(n + 1) - math.lgamma(r + 1) - math.lgamma(n - r + 1)


def names(shape, block, accepted):
    cost = 0.0
    for side in (0, 1):
        n, members = shape[side], block[side]
        plain = log_choose(n, len(members)) + math.log(n)
        parts = {}
        for line in range(n):
            parts.setdefault(tuple(line in other[side] for other in accepted), []).append(line)
        within = sum(log_choose(len(p), sum(x in members for x in p)) + math.log(len(p) + 1) for p in parts.values())
        cost += min(plain, within) + math.log(2) if len(parts) > 1 else plain
    return cost


def factor(share):
    return min(1 / (1 - share), RESTORED) if share < 1 else RESTORED


def shares(X, block):
    """The share of the cells of its columns, and of its rows, that a block has."""
    n, m = X.shape
    inside = len(cells_of(X, *block))
    return inside / len(cells_of(X, range(n), block[1])), inside / len(cells_of(X, block[0], range(m)))


def kl_bound(cells, freedom, x):
    p = freedom / cells
    if p >= 1 or x <= p:
        return 0.0
    return cells / 2 * (p * math.log(p / x) + (1 - p) * math.log((1 - p) / (1 - x)))


class Weights:
    log_tests, series = 0.0, 0.0

    def __init__(self, X):
        self.X = X
        n, m = X.shape
        self.seen = cells_of(X, range(n), range(m))
        values = [X[i][j] for i, j in self.seen]
        self.binary = set(values) <= {0, 1}
        whole = all(value == round(value) for value in values)
        unit = 1.0 if whole else median([value for value in values if value > 0])
        self.Y = {(i, j): X[i][j] if self.binary else math.log2(1 + X[i][j] / unit) for i, j in self.seen}
        self.R, self.C = [0.0] * n, [0.0] * m
        for (i, j), y in self.Y.items():
            self.R[i] += y
            self.C[j] += y
        self.E = self.margins()
        pearson = sum((self.Y[at] - e) ** 2 / e for at, e in self.E.items() if e > 0)
        n, m = (len({at[side] for at in self.seen}) for side in (0, 1))
        self.freedom, self.first = len(self.seen) - n - m + 1, dict(self.E)
        self.phi = self.phi_first = 1.0 if self.binary else pearson / self.freedom
        self.by, self.less = ([1.0] * len(self.R), [1.0] * len(self.C)), []
        self.accepted = []

    def given(self, blocks):
        pass

    def margins(self):
        total = sum(self.R)
        x, y = ([math.log(s / math.sqrt(total)) if s > 0 else -math.inf for s in sums] for sums in (self.R, self.C))
        for _ in range(6):
            for own, sums, side in ((x, self.R, 0), (y, self.C, 1)):
                mean, slope = [0.0] * len(own), [0.0] * len(own)
                for at in self.seen:
                    t = math.exp(x[at[0]] + y[at[1]])
                    mean[at[side]] += t / (1 + t) if self.binary else math.log2(1 + t)
                    slope[at[side]] += t / (1 + t) ** 2 if self.binary else t / (1 + t) / math.log(2)
                for line in range(len(own)):
                    if sums[line] > 0:
                        own[line] += max(-1, min(1, (sums[line] - mean[line]) / slope[line]))
        E, self.logs = {}, (x, y)
        for i, j in self.seen:
            t = math.exp(x[i] + y[j])
            E[i, j] = t / (1 + t) if self.binary else math.log2(1 + t)
        return E

    def accept(self, block, raw, form):
        """Raise the block until it has its weight, then rows, then columns, four times; overlaps add up."""
        if form != "level":
            return
        self.plain = getattr(self, "plain", dict(self.E))
        own = cells_of(self.X, *block)
        level = sum(self.E[at] for at in own) / sum(self.plain[at] for at in own)
        self.raised = [*getattr(self, "raised", []), [block, 0.0]]
        weight = sum(self.Y[at] for at in own)

        def refresh():
            for i, j in self.seen:
                self.E[i, j] = self.plain[i, j] * (1 + sum(f for (r, c), f in self.raised if i in r and j in c))

        for _ in range(4):
            inside = cells_of(self.X, *block)
            self.raised[-1][1] += (weight - sum(self.E[at] for at in inside)) / sum(self.plain[at] for at in inside)
            for side, sums in ((0, self.R), (1, self.C)):
                refresh()
                of = [0.0] * len(sums)
                for at in self.seen:
                    of[at[side]] += self.E[at]
                for at in self.seen:
                    self.plain[at] *= sums[at[side]] / of[at[side]] if of[at[side]] else 0.0
                for line in range(len(sums)):
                    self.by[side][line] *= sums[line] / of[line] if of[line] else 1.0
                refresh()
        if not self.binary:
            self.less.append(self.squares(own) * (1 / level - 1 / (level + max(self.raised[-1][1], 0.0))))
            self.phi = max(self.pearson() / self.freedom, 0.1 * self.phi_first)

    def squares(self, cells, by=None):
        """ΣY²/E, with E as at first, or with one factor of each row and column."""
        scale = [1.0 if by is None else self.by[by][at[by]] for at in cells]
        pairs = zip(cells, scale, strict=True)
        return sum(self.Y[at] ** 2 / self.first[at] / factor for at, factor in pairs if self.first[at] > 0)

    def pearson(self):
        """Rows and columns as if independent; blocks take away what they explain, raised by their lines' factors."""
        every, (n, m) = self.squares(self.seen), self.X.shape
        total = self.squares(self.seen, 0) * self.squares(self.seen, 1) / every
        for ((rows, cols), _), less in zip(self.raised, self.less, strict=True):
            across, down = cells_of(self.X, rows, range(m)), cells_of(self.X, range(n), cols)
            up = self.squares(across, 0) / self.squares(across) * self.squares(down, 1) / self.squares(down)
            total -= less * up
        return total - sum(self.R)

    def deviance(self, o, e, cells):
        def d(o, e):
            return (o * math.log(o / e) if o > 0 else 0.0) - o + e

        return d(o, e) + d(cells - o, cells - e) if self.binary else d(o / self.phi, e / self.phi)

    def profile(self, block, side):
        """A group that takes in one side as a whole: do its lines agree on the other lines, beyond their own scatter?"""
        other, z, e_of, basis = 1 - side, [], [], []
        for line in range(self.X.shape[other]):
            cells = [at for at in self.seen if at[other] == line and at[side] in block[side] and self.E[at] > 0]
            if not cells:
                continue
            phi = {}
            for member in {at[side] for at in cells}:
                line_cells = [at for at in self.seen if at[side] == member and self.first[at] > 0]
                live = len({at[other] for at in self.seen if self.first[at] > 0})
                pearson = sum(self.Y[at] ** 2 / self.first[at] for at in line_cells) - (self.R, self.C)[side][member]
                phi[member] = 1.0 if self.binary else max(pearson / max(live - 1, 1), self.phi_first)
            e = sum(self.E[at] for at in cells)
            v = sum(phi[at[side]] * self.plain_of(at) for at in cells)
            x = self.logs[other][line]
            z.append((sum(self.Y[at] for at in cells) - e) / math.sqrt(v))
            basis.append([x**2 * e / math.sqrt(v), x * e / math.sqrt(v), e / math.sqrt(v)])
            e_of.append(e)
        left = np.array(z) - np.array(basis) @ np.linalg.lstsq(np.array(basis), np.array(z))[0]
        squares = sorted(left**2)[:-2]
        found = sum(squares) / max(len(squares) - 3, 1)
        freedom = max(len(squares) - 3, 0) / (1 + sum(1 / e for e in e_of) / len(e_of) / 2)
        return (freedom / 2 * (found - 1 - math.log(found)) if found > 1 else 0.0), ("columns", "rows")[side]

    def plain_of(self, at):
        return getattr(self, "plain", self.E)[at]

    def judge(self, block):
        n, m = self.X.shape
        whole = [len(block[0]) == n, len(block[1]) == m]
        if sum(whole) == 1 and len(self.seen) == n * m:
            return self.profile(block, 0 if whole[1] else 1)
        inside, across, down = (
            cells_of(self.X, *lines) for lines in (block, (block[0], range(m)), (range(n), block[1]))
        )
        o, e = sum(self.Y[at] for at in inside), sum(self.E[at] for at in inside)
        if o <= e:
            return 0.0, "level"
        R, C, T = sum(self.R[i] for i in block[0]), sum(self.C[j] for j in block[1]), sum(self.R)
        tables = [
            (o, e, len(inside)),
            (R - o, R - e, len(across) - len(inside)),
            (C - o, C - e, len(down) - len(inside)),
            (T - R - C + o, T - R - C + e, len(self.seen) - len(across) - len(down) + len(inside)),
        ]
        by_cols, by_rows = shares(self.X, block)
        each = [self.deviance(*table) if table[1] > 0 else math.inf for table in tables]
        L = min(each[0] * factor(by_cols) * factor(by_rows), sum(each))
        return (L - (1 + math.log(2 * L)) / 2 if 2 * L > 1 else 0.0), "level"


def correlation(Z):
    """Of neighbouring columns in a typical row: by the lower quartile of the rows, raised to their middle."""
    m = Z.shape[1]
    each = sorted(sum(row[j] * row[j + 1] for j in range(m - 1)) / sum(row**2) for row in Z if sum(row**2) > 0)
    lower = rho = each[len(each) // 4]
    for _ in range(10):
        raised = lower + 0.6745 * math.sqrt(max(0, 1 - rho**2) / m)
        rho = min(0.99, (raised + 1 / m) / (1 - 4 / max(m, 8)))
    return rho


class Normal:
    log_tests = math.log(20)

    def __init__(self, X, shapes=True):
        self.X, self.shapes = X, shapes
        n, m = X.shape
        self.seen = seen = ~np.isnan(X)
        self.N = int(seen.sum())
        self.freedom = max(self.N - int(seen.any(1).sum()) - int(seen.any(0).sum()) + 1, 1)
        x = np.where(seen, X, 0.0)
        means = x.sum(1) / np.maximum(seen.sum(1), 1)
        centred = np.where(seen, X - means[:, None], 0.0)
        b = centred.sum(0) / np.maximum(seen.sum(0), 1)
        overall = (np.where(seen, centred - b, 0.0) ** 2).sum() / self.N
        t2, sweeps = np.ones(m), 2 if seen.all() else 12
        for sweep in range(1, sweeps + 1):
            a, s2 = np.zeros(n), np.zeros(n)
            for i in range(n):
                js = np.flatnonzero(seen[i])
                if len(js):
                    a[i] = sum((x[i, j] - b[j]) / t2[j] for j in js) / sum(1 / t2[j] for j in js)
                squares = sum((x[i, j] - a[i] - b[j]) ** 2 / t2[j] for j in js)
                s2[i] = (1 - SHARED) * squares / max(len(js), 1) + SHARED * overall
            old, b = b, b.copy()
            for j in range(m):
                rows = np.flatnonzero(seen[:, j])
                if len(rows):
                    b[j] = sum((x[i, j] - a[i]) / s2[i] for i in rows) / sum(1 / s2[i] for i in rows)
            if 2 * sweep % sweeps:
                continue
            c = [sum((x[i, j] - a[i] - b[j]) ** 2 / s2[i] for i in range(n) if seen[i, j]) for j in range(m)]
            t2 = (1 - SHARED) * np.array(c) / np.maximum(seen.sum(0), 1) + SHARED * sum(c) / self.N
            plain = [sum((x[i, j] - a[i] - old[j]) ** 2 for i in range(n) if seen[i, j]) for j in range(m)]
            overall = sum(plain / t2) / self.N
        t2 = t2 * sum(c / t2) / self.N
        t2 = np.maximum(t2, np.array(c) / np.maximum(seen.sum(0), 1) / 1.3)
        z = np.array([[(x[i, j] - a[i] - b[j]) / math.sqrt(s2[i] * t2[j]) for j in range(m)] for i in range(n)])
        bins = np.clip(np.floor((z + 8) * 256), 0, 4095)
        counts = [int((bins[seen] == at).sum()) for at in range(4096)]
        for i in range(n):
            for j in range(m):
                at = int(bins[i, j])
                middle = (sum(counts[:at]) + counts[at] / 2) / self.N
                score = NormalDist().inv_cdf(middle) if 0 < middle < 1 else math.inf
                z[i, j] = score if abs(score) < abs(z[i, j]) else z[i, j]
        z = np.where(seen, z, 0.0)
        columns = np.zeros(m)
        for _ in range(2 if seen.all() else 6):
            left = np.where(seen, z - columns, 0.0)
            rows = left.sum(1) / np.maximum(seen.sum(1), 1)
            used = columns
            columns = columns + np.where(seen, left - rows[:, None], 0.0).sum(0) / np.maximum(seen.sum(0), 1)
        judged = np.where(seen, z - rows[:, None] - used, 0.0)
        self.Z = np.where(seen, z - rows[:, None] - columns, 0.0)
        self.row_squares, self.col_squares = (judged**2).sum(1), (judged**2).sum(0)
        self.squares = self.row_squares.sum()
        self.lost = max(self.N - self.squares, 0.0)
        self.series, self.loudness = 0.0, np.ones((n, m))
        self.Z0, self.terms = self.Z, []
        lines = (self.row_squares / np.maximum(seen.sum(1), 1), self.col_squares / np.maximum(seen.sum(0), 1))
        self.row_loudness, self.col_loudness = (np.minimum(of, 1) for of in lines)
        self.usual = (median(abs(self.Z[seen])) / NormalDist().inv_cdf(0.75)) ** 2

    def ties(self, rows, cols):
        """Cells with the value of another one in their row, or in their column, whichever are more."""
        lines = [[self.X[i][j] for j in cols] for i in rows], [[self.X[i][j] for i in rows] for j in cols]
        return max(sum(len(line) - len(set(line)) for line in side) for side in lines)

    def given(self, blocks):
        """Where neighbouring columns are correlated, also in what rows in the same blocks do not share: a series."""
        n, m = self.Z.shape
        limit = 0.2 + 3 / math.sqrt(n * m)
        rho = correlation(self.Z)
        if n >= 10 and m >= 3 and rho > 0.2:
            at_medians = self.Z - np.median(self.Z, axis=0)
            rho = min(rho, correlation(at_medians - at_medians.mean(axis=1, keepdims=True)))
        if n < 10 or m < 3 or rho <= limit:
            return
        groups = {}
        for i in range(n):
            groups.setdefault(tuple(i in rows for rows, _ in blocks), []).append(i)
        own = [self.Z[i] - self.Z[g].mean(axis=0) for g in groups.values() if len(g) > 1 for i in g]
        within = correlation(np.array([row - row.mean() for row in own])) if len(own) >= 10 else rho
        self.series = rho if within > limit else 0.0

    def uncommon(self, block, B, form):
        """The three largest squares of shapes, over those that most other rows have along the same profile."""
        rows, cols = block
        others = [i for i in range(len(self.Z)) if i not in set(rows)]
        found = []
        _, s, v = np.linalg.svd(B, full_matrices=False)
        for value, profile in list(zip(s**2, v, strict=True))[:3]:
            squares = []
            for i in others:
                seen = [k for k, j in enumerate(cols) if self.seen[i, j]]
                mean = sum(self.Z[i, cols[k]] for k in seen) / max(len(seen), 1) if form == "affine" else 0.0
                squares.append(sum((self.Z[i, cols[k]] - mean) * profile[k] for k in seen) ** 2)
            usual = median(squares) / 0.6744897501960817**2 if len(others) >= 20 else 1.0
            found.append(value / (usual if usual > 1 + 7 / math.sqrt(max(len(others), 1)) else 1.0))
        return max(found), found.index(max(found))

    def fitted(self, form, B, M, level, rows, cols, pair=0):
        """The form of a block as a matrix of its own cells."""
        ones = np.ones(B.shape)
        if form == "level":
            return level * ones
        if form == "columns":
            return ones * cols
        if form == "rows":
            return ones * rows[:, None]
        if form == "both":
            return rows[:, None] + cols - level
        left = B - rows[:, None] if form == "affine" else B
        u, s, v = np.linalg.svd(left * M)
        return s[pair] * np.outer(u[:, pair], v[pair]) + (rows[:, None] if form == "affine" else 0)

    def forms(self, block):
        rows, cols = block
        B, M = self.Z[np.ix_(rows, cols)], self.seen[np.ix_(rows, cols)]
        noise = (self.squares + self.lost) / self.freedom
        by_cols, by_rows = map(factor, shares(self.X, block))
        N, in_row, in_col = M.sum(), M.sum(1), M.sum(0)
        r, c = (in_row > 0).sum(), (in_col > 0).sum()
        white, W = np.ones(len(cols)), np.eye(len(cols))
        if self.series:
            values, vectors = np.linalg.eigh(self.series ** np.abs(np.subtract.outer(cols, cols)))
            W = vectors @ np.diag(np.maximum(values, 1) ** -0.5) @ vectors.T
            white = W.sum(0)
        Bw = B @ W
        weight = np.full(len(rows), white @ white) if self.series else in_row.astype(float)
        sums, down = Bw @ white, Bw.sum(0)
        level = sums.sum() / weight.sum()
        row_means = sums / np.maximum(weight, 1e-300)
        col_means = B.sum(0) / np.maximum(in_col, 1)
        L = level * sums.sum()
        R = sum(sums**2 / np.maximum(weight, 1e-300)) - L
        C = sum(down**2 / np.maximum(in_col, 1)) - L
        squares = (Bw**2).sum()
        shape, pair_of_shape = self.uncommon(block, B, "shape")
        bent, pair_of_bent = self.uncommon(block, (B - row_means[:, None]) * M, "affine")
        wide = (math.sqrt(r) + math.sqrt(c)) ** 2
        both = by_cols * by_rows
        table = {
            "level": (1, L, both * L),
            "columns": (c, L + C, both * L + by_cols * C),
            "rows": (r, L + R, both * L + by_rows * R),
            "both": (r + c - 1, L + R + C, both * L + by_rows * R + by_cols * C),
            "shape": (wide, shape, shape),
            "affine": (r + wide, L + R + bent, both * L + by_rows * R + bent),
        }
        for form, (freedom, own, explained) in table.items():
            if form in ("shape", "affine") and (self.series or not self.shapes or min(r, c) < 2):
                continue
            of_block = explained / max(squares - own + explained, N * noise)
            raws = [
                kl_bound(self.freedom, freedom, min(explained / (self.squares + self.lost), 1 - 1e-12)),
                kl_bound(N, freedom, min(of_block, MOST)),
            ]
            usual = min(noise, self.usual) * max(self.loudness[np.ix_(rows, cols)].mean(), 0.02)
            usual *= self.row_loudness[rows].mean() * self.col_loudness[cols].mean()
            quiet = squares - L - R - C < 0.1 * N * usual and self.ties(rows, cols) <= 0.05 * N
            if quiet and not self.series and form not in ("shape", "affine"):
                left = max((squares - own) / usual / (N - freedom), 0.02)
                if left < 1:
                    raws.append((N - freedom) / 2 * (left - 1 - math.log(left)) - self.log_tests)
            pair = pair_of_bent if form == "affine" else pair_of_shape
            P = self.fitted(form, B, M, level, row_means, col_means, pair)
            D = M * (2 * B - P) * P * explained / own
            lines = (
                (D.sum(1), self.row_squares, rows, self.seen.sum(1)),
                (D.sum(0), self.col_squares, cols, self.seen.sum(0)),
            )
            for of, everywhere, at, count in lines if not self.series and form not in ("shape", "affine") else ():
                nu = [max(count[line] - 2, 1) for line in at]
                logs = [
                    v * math.log(1 - min(d / max(everywhere[line], v * noise), MOST))
                    for v, d, line in zip(nu, of, at, strict=True)
                ]
                raws.append(kl_bound(sum(nu), freedom, 1 - math.exp(sum(logs) / sum(nu))))
            left = max(1 - (squares - own) / N / self.usual, 0)
            yield max(raws), form, explained, (D, left), (level, row_means, col_means, B, M, pair)

    def judge(self, block):
        return max(self.forms(block), key=lambda found: found[0])[:2]

    def accept(self, block, raw, form):
        _, _, explained, (D, left), (level, rows, cols, B, M, pair) = next(f for f in self.forms(block) if f[1] == form)
        n, m = self.X.shape
        by_cols, by_rows = map(factor, shares(self.X, block))
        level_of_all = by_cols * by_rows * level
        ones = np.ones(B.shape)
        parts = []
        if form == "level":
            parts.append(level_of_all * ones)
        if form in ("columns", "both"):
            parts.append(by_cols * (cols - level) * ones + (level_of_all if form == "columns" else 0))
        if form in ("rows", "both", "affine"):
            parts.append((by_rows * (rows - level) + level_of_all)[:, None] * ones)
        if form in ("shape", "affine"):
            parts.append(
                self.fitted("shape", (B - (rows[:, None] if form == "affine" else 0)) * M, M, level, rows, cols, pair)
            )
        for part in parts:
            P = np.zeros((n, m))
            P[np.ix_(*block)] = part
            self.terms.append(P - P.mean(0) - P.mean(1)[:, None] + P.mean())
        self.Z = np.where(self.seen, self.Z0 - sum(self.terms), 0.0)
        self.row_squares[block[0]] = np.maximum(self.row_squares[block[0]] - D.sum(1), 0)
        self.col_squares[block[1]] = np.maximum(self.col_squares[block[1]] - D.sum(0), 0)
        self.squares = max(self.squares - explained, 0.0)
        self.loudness[np.ix_(*block)] -= left


def evidence(X, blocks):
    """Evidence alone, given those accepted before, forms and the order; without asking for redundancy.

    Where a shape is accepted and others with evidence alone are not, the selection is made again without shapes.
    """
    X = unskewed(np.asarray(X, dtype=float))
    if family(X) == "weights":
        return in_best_order(lambda: Weights(X), blocks)[:4]
    *found, accepted = in_best_order(lambda: Normal(X), blocks)
    alone, gain, own, order = found
    if {"shape", "affine"} & {*accepted} and sum(alone > 0) > len(order):
        _, other, forms, others, _ = in_best_order(lambda: Normal(X, shapes=False), blocks)
        if sum(other[others]) > sum(gain[order]):
            return alone, other, [forms[k] if k in others else own[k] for k in range(len(blocks))], others
    return found


def alike(shape, one, other):
    """The share of the level of one block that the level of another explains, beside means of rows and columns."""
    levels = []
    for rows, cols in (one, other):
        level = np.zeros(shape)
        level[np.ix_(rows, cols)] = 1
        levels.append((level - level.mean(0) - level.mean(1)[:, None] + level.mean()).ravel())
    squares = (levels[0] @ levels[0]) * (levels[1] @ levels[1])
    return (levels[0] @ levels[1]) ** 2 / squares if squares > 1e-12 else 0.0


def in_best_order(make, blocks):
    """By gain, or with one of the first three to the end that are like later ones with which they share no cell."""
    model = make()
    tried = [selected(model, blocks)]
    alone, _, _, order, _ = tried[0]
    late, tiles = [], [at for rows, cols in blocks for at in cells_of(np.zeros(model.X.shape), rows, cols)]
    if len(tiles) == len({*tiles}) == model.X.size:  # a partition
        return tried[0]
    for at, k in enumerate(order):
        later = [j for j in range(len(blocks)) if j not in order[: at + 1] and alone[j] > 0]
        apart = [j for j in later if not ({*blocks[k][0]} & {*blocks[j][0]} and {*blocks[k][1]} & {*blocks[j][1]})]
        if any(alike(model.X.shape, blocks[k], blocks[j]) > 0.1 for j in apart):
            late.append(k)
    tried += [selected(make(), blocks, k) for k in late[:3]]
    return max(tried, key=lambda found: sum(found[1][found[3]]))


def selected(model, blocks, last=None):
    shape = model.X.shape
    model.given(blocks)
    alone = [model.judge(block) for block in blocks]
    plain = [names(shape, block, []) + model.log_tests for block in blocks]
    gain = [raw - cost for (raw, _), cost in zip(alone, plain, strict=True)]
    result, order, accepted = list(gain), [], []
    while True:
        waiting = [k for k, (raw, _) in enumerate(alone) if raw > 0 and k not in order]
        before = [blocks[k] for k in order]
        judged = {k: model.judge(blocks[k]) for k in waiting}
        for k in waiting:
            gain[k] = judged[k][0] - names(shape, blocks[k], before) - model.log_tests
        ready = [k for k in waiting if k != last]
        if last is not None and (not ready or max(gain[k] for k in ready) <= 0):
            last, ready = None, waiting
        if not ready or max(gain[k] for k in ready) <= 0:
            forms = [form if result[k] > 0 or k in order else None for k, (_, form) in enumerate(alone)]
            return np.array(result), np.array(gain), forms, order, accepted
        k = max(ready, key=lambda k: gain[k])
        order.append(k)
        accepted.append(judged[k][1])
        model.accept(blocks[k], *judged[k])
