"""Tiny algorithms for tests of the machinery: quick, and stuck, failing or crashing on demand."""

from __future__ import annotations

import os
import signal
import time
import weakref
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from bivaluate import Biclustering, Plan
from bivaluate.sweep.cells import Task
from bivaluate.sweep.schedule import choose_for, first_slots, sources, tasks


def all_tasks(plan: Plan, matrix: Any) -> list[Task]:
    """Return the tasks of a plan of one data set with numbers for K."""
    (source,) = sources(plan)
    chosen = {(source.name, None): choose_for(plan, matrix)}
    return list(tasks(plan, list(first_slots(plan, [source], chosen, {})), chosen, lambda cell: b""))


class Blocks:
    """Nested: block i is drawn from (random_state, i) alone. Every fit adds a line to `log`; from seed `held_from` on it waits for the file `until`."""

    nested = True

    def __init__(
        self,
        n_biclusters: int = 2,
        random_state: int = 0,
        log: str = "",
        seconds: float = 0.0,
        held_from: int = 10**9,
        until: str = "",
        stuck_from: int = 10**9,
        fail_from: int = 10**9,
        crash_from: int = 10**9,
    ) -> None:
        self.n_biclusters = n_biclusters
        self.random_state = random_state
        self.log = log
        self.seconds = seconds
        self.held_from = held_from
        self.until = until
        self.stuck_from = stuck_from
        self.fail_from = fail_from
        self.crash_from = crash_from

    def fit(self, X: Any) -> Blocks:
        if self.log:
            with open(self.log, "a") as file:
                file.write(f"{self.n_biclusters} {self.random_state} {os.getpid()}\n")
        time.sleep(self.seconds)
        while self.random_state >= self.held_from and not os.path.exists(self.until):
            time.sleep(0.01)
        if self.n_biclusters >= self.stuck_from:
            while True:
                pass
        if self.n_biclusters >= self.fail_from:
            raise ValueError(f"no {self.n_biclusters} blocks here")
        if self.n_biclusters >= self.crash_from:
            os.kill(os.getpid(), signal.SIGKILL)
        pairs = []
        for i in range(self.n_biclusters):
            rng = np.random.default_rng([self.random_state, i])
            rows = rng.choice(X.shape[0], size=min(4, X.shape[0]), replace=False)
            pairs.append((rows, rng.choice(X.shape[1], size=min(3, X.shape[1]), replace=False)))
        self.solution_ = Biclustering(pairs, X.shape, info={"parameters": {"n_biclusters": self.n_biclusters}})
        return self


class FailingBlocks(Blocks):
    """The same, but always fails."""

    nested = False

    def fit(self, X: Any) -> Blocks:
        raise ValueError(f"no {self.n_biclusters} blocks here")


class Separate(Blocks):
    """The same, but says it is not nested."""

    nested = False


class Careless(Blocks):
    """The same, but writes into the matrix it is given."""

    def fit(self, X: Any) -> Blocks:
        X[:] = 0.0
        return super().fit(X)


class Interruptible(Blocks):
    """The same, but fails where SIGINT is ignored."""

    def fit(self, X: Any) -> Blocks:
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
            raise ValueError("SIGINT is ignored here")
        return super().fit(X)


class Freed(Blocks):
    """The same, but an interrupt from the keyboard comes while an object is freed, where Python drops it."""

    def fit(self, X: Any) -> Blocks:
        class Anything:
            pass

        anything = Anything()
        weakref.finalize(anything, signal.raise_signal, signal.SIGINT)
        del anything
        return super().fit(X)


class Outweighed(BaseEstimator):
    """The first 15 rows and 8 columns, and beside them halves of what is left, which cost more than a weak block saves."""

    def __init__(self, n_biclusters: int = 2, random_state: int = 0) -> None:
        self.n_biclusters = n_biclusters
        self.random_state = random_state

    def fit(self, X: Any) -> Outweighed:
        halves = [(range(15 + i, X.shape[0], 2), range(8 + i, X.shape[1], 2)) for i in range(self.n_biclusters - 1)]
        self.solution_ = Biclustering([(range(15), range(8)), *halves], X.shape)
        return self


BLOCKS = "tests.sweep.standins:Blocks"
SEPARATE = "tests.sweep.standins:Separate"
CARELESS = "tests.sweep.standins:Careless"
INTERRUPTIBLE = "tests.sweep.standins:Interruptible"
FREED = "tests.sweep.standins:Freed"
OUTWEIGHED = "tests.sweep.standins:Outweighed"
