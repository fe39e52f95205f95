"""Coefficients of an order by CMA-ES, from the library cmaes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from schedfarm.core.arrays import Float64
from schedfarm.core.errors import InputError
from schedfarm.farm.search.orders import order_text, with_values
from schedfarm.farm.search.spec import Parameter, Spec

SIGMA = 0.25
"""First standard deviation of a coefficient, as a share of its range."""


class Coefficients:
    """Propose orders that differ in their coefficients, each on a scale from 0 to 1."""

    def __init__(self, spec: Spec) -> None:
        try:
            from cmaes import CMA
        except ImportError:
            raise InputError(
                "the search of coefficients needs the package cmaes; pip install schedfarm[search]"
            ) from None
        self._tree, self._parameters = spec.template.tree, spec.coefficients
        start = [_share(one) for one in self._parameters.values()]
        bounds = np.array([[0.0, 1.0]] * len(start))
        # The library takes seeds of 32 bits.

        self._optimiser = CMA(
            np.array(start), SIGMA, bounds=bounds, seed=spec.seed, population_size=spec.candidates
        )
        self._asked: list[Float64] = []

    def ask(self) -> list[str]:
        """Return the orders of the next generation."""
        asked = [self._optimiser.ask() for _ in range(self._optimiser.population_size)]
        self._asked = asked
        return [self._order(one) for one in asked]

    def tell(self, ranks: Sequence[int]) -> None:
        """Update the search with the ranks of the orders, 0 for the best."""
        pairs = [(one, float(rank)) for one, rank in zip(self._asked, ranks, strict=True)]
        self._optimiser.tell(pairs)

    def centre(self) -> list[str]:
        """Return the order at the centre of the distribution."""
        return [self._order(np.clip(self._optimiser.mean, 0.0, 1.0))]

    def _order(self, shares: Float64) -> str:
        values = {
            name: _value(one, float(share))
            for (name, one), share in zip(self._parameters.items(), shares, strict=True)
        }
        return order_text(with_values(self._tree, values))


def _share(one: Parameter) -> float:
    """Return the position of a parameter's start in its range, 0 to 1."""
    if one.start is None:
        return 0.5
    if one.log:
        return math.log(one.start / one.low) / math.log(one.high / one.low)
    return (one.start - one.low) / (one.high - one.low)


def _value(one: Parameter, share: float) -> float:
    """Return the value of a parameter at a position in its range.

    Examples
    --------
    >>> _value(Parameter(1, 10_000, log=True), 0.5)
    100.0
    """
    if one.log:
        return one.low * math.pow(one.high / one.low, share)
    return one.low + share * (one.high - one.low)
