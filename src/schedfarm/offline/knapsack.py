"""The knapsack problem in whole numbers, solved exactly."""

from __future__ import annotations

import numpy as np

from schedfarm.core.arrays import Bool, Int64


def knapsack(sizes: Int64, profits: Int64, capacity: int) -> Bool:
    """Choose the items of greatest total profit that fit a capacity, in n x capacity steps.

    Sizes are at least 1 and profits at least 0; the sum of profits fits int64. Among choices of
    equal profit, the choice without the later items is returned.

    References
    ----------
    R. Bellman, Dynamic programming, 1957.

    Examples
    --------
    >>> knapsack(np.array([3, 2, 2]), np.array([5, 3, 3]), 4).tolist()
    [False, True, True]
    """
    best = np.zeros(capacity + 1, np.int64)
    taken = np.zeros((sizes.size, capacity + 1), np.bool_)
    for thing, (size, profit) in enumerate(zip(sizes.tolist(), profits.tolist(), strict=True)):
        if size <= capacity:
            with_it = best[: capacity + 1 - size] + profit
            taken[thing, size:] = with_it > best[size:]
            best[size:] = np.maximum(with_it, best[size:])
    chosen, room = np.zeros(sizes.size, np.bool_), capacity
    for thing in reversed(range(sizes.size)):
        if taken[thing, room]:
            chosen[thing] = True
            room -= int(sizes[thing])
    return chosen
