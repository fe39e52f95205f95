"""Hyper-Erlang distributions of common order: two Erlang branches with equal numbers of stages."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from schedfarm.core.arrays import Float64
from schedfarm.core.errors import InputError

MAX_ORDER = 100
"""Largest number of stages of a fit."""


@dataclass(frozen=True)
class HyperErlang:
    """Hold a mixture of two Erlang distributions.

    Parameters
    ----------
    order : int
        Number of stages of both branches.
    first : float
        Probability of the first branch.
    slow, fast : float
        Rate of a stage in the first and in the second branch, 1/s.

    Examples
    --------
    >>> HyperErlang(order=1, first=0.5, slow=0.5, fast=1.0).moment(1)
    1.5
    """

    order: int
    first: float
    slow: float
    fast: float

    def moment(self, k: int) -> float:
        """Return the mean of the k-th power, s^k."""
        rising = math.prod(range(self.order, self.order + k))
        return rising * (self.first / self.slow**k + (1 - self.first) / self.fast**k)

    def draw(self, generator: np.random.Generator, size: int) -> Float64:
        """Draw values, s; with the same generator, a shorter draw is the begin of a longer one."""
        value = np.empty(size)
        for at in range(0, size, _BLOCK):
            coin = generator.random(_BLOCK) < self.first
            stages = generator.gamma(self.order, 1.0, _BLOCK)
            value[at : at + _BLOCK] = (stages / np.where(coin, self.slow, self.fast))[: size - at]
        return value


_BLOCK = 1_024


def fit(first: float, second: float, third: float) -> HyperErlang:
    """Return the distribution of lowest order with given means, above 0, of x, x^2 and x^3.

    The first branch is the slower branch.

    Divided by the moments of an Erlang distribution with rate 1, the means are the moments of a
    distribution on two points. These points are the mean stage lengths of the branches, which are
    the roots of a quadratic equation.

    References
    ----------
    M. A. Johnson, M. R. Taaffe, Matching moments to phase distributions: mixtures of Erlang
    distributions of common order, Stochastic Models 5(4), 1989.

    Examples
    --------
    >>> fit(1.5, 5.0, 27.0)
    HyperErlang(order=1, first=0.5, slow=0.5, fast=1.0)
    """
    for order in range(1, MAX_ORDER + 1):
        one = first / order
        two = second / (order * (order + 1))
        three = third / (order * (order + 1) * (order + 2))
        spread = two - one * one
        if spread > 0 and one * three > two * two:
            total = (three - one * two) / spread
            product = (one * three - two * two) / spread
            root = math.sqrt(total * total - 4 * product)
            slow, fast = (total + root) / 2, (total - root) / 2
            return HyperErlang(order, (one - fast) / root, 1 / slow, 1 / fast)
    raise InputError(
        f"moments {first!r}, {second!r}, {third!r}: no hyper-Erlang distribution of up to "
        f"{MAX_ORDER} stages has them"
    )
