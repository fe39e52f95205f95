"""What a band is: which samples count, and which numbers stand for them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from analysis.errors import StoreError
from core.arrays import Bool, Float64, Int64

BAND = ("low", "mean", "high")
"""Labels of a trimmed band."""

TRIM = 0.1
"""Share left out on each side unless another is asked for: what is left is 10 to 90 %."""

QUANTILES = (0.1, 0.5, 0.9)
"""The quantiles of a band unless others are asked for."""

LEAST_SAMPLES = 2
"""Samples that must remain for a band: one sample would give a band of no width, which would look
like certainty."""

ROUNDING = 9
"""Decimals kept of (n - 1) x trim before rounding up: 70 x 0.1 is 7.000000000000001 in binary."""


class BandRule(ABC):
    """Say how samples become a band: what every kind of band rule answers."""

    kind: ClassVar[str]
    """Its name."""

    dimension: ClassVar[str]
    """The dimension along which a band's numbers stand."""

    @property
    @abstractmethod
    def labels(self) -> list[str] | list[float]:
        """The coordinate along `dimension`."""

    @property
    @abstractmethod
    def attrs(self) -> dict[str, Any]:
        """What a result says of the rule that made it."""

    @property
    @abstractmethod
    def need(self) -> int:
        """Samples that a cell needs for a band."""

    @abstractmethod
    def caption(self, fewest: int, most: int) -> str:
        """Say what line and band of a figure are, of cells with so many samples."""

    @abstractmethod
    def reduce(self, values: Float64, rank_by: Float64 | None = None) -> Float64:
        """Turn samples along the last axis into a band along the last axis.

        Parameters
        ----------
        values : float64[..., s]
            One number a sample; NaN where there is none.
        rank_by : float64[..., s], optional
            What decides which whole samples are best and worst; by default the values.

        Returns
        -------
        float64[..., b]
            NaN where fewer than `LEAST_SAMPLES` samples remain.
        """


@dataclass(frozen=True)
class Trimmed(BandRule):
    """Leave out the best and the worst samples: lowest, mean and highest of the rest.

    The published rule (Carastan-Santos et al. 2019, section V-A).

    Parameters
    ----------
    trim : float
        Share left out on each side, 0 <= trim < 0.5. The samples that stay are those within the
        trim to 1 - trim percentile range, so ceil((n - 1) x trim) go on each side: one for 2 to
        11 samples at 0.1, two for 12 to 21.

    Raises
    ------
    StoreError
        If trim is out of range.

    Examples
    --------
    >>> Trimmed().reduce(np.arange(1.0, 11.0)).tolist()
    [2.0, 5.5, 9.0]
    """

    kind: ClassVar[str] = "trimmed"
    dimension: ClassVar[str] = "band"
    trim: float = TRIM

    def __post_init__(self) -> None:
        if not 0 <= self.trim < 0.5:
            raise StoreError(f"trim is {self.trim}; it must be at least 0 and below 0.5")

    @property
    def labels(self) -> list[str]:
        """The coordinate along `dimension`."""
        return list(BAND)

    @property
    def attrs(self) -> dict[str, Any]:
        """What a result says of the rule that made it."""
        within = f" within the {self._range} range" if self.trim else ""
        description = f"lowest, mean and highest of the samples{within}"
        return {"kind": self.kind, "trim": self.trim, "description": description}

    @property
    def need(self) -> int:
        """Samples that a cell needs for a band."""
        n = LEAST_SAMPLES
        while n - 2 * int(left_out(np.array(n), self.trim)) < LEAST_SAMPLES:
            n += 1
        return n

    def caption(self, fewest: int, most: int) -> str:
        """Say what line and band of a figure are, of cells with so many samples.

        Examples
        --------
        >>> Trimmed().caption(9, 10)[:64]
        'Line: mean of 9 to 10 samples without the best and the worst; ba'
        """
        one = left_out([fewest, most], self.trim).tolist() == [1, 1]
        gone = "the best and the worst" if one else f"those outside the {self._range} range"
        samples = _samples(fewest, most)
        return f"Line: mean of {samples} without {gone}; band: lowest to highest of these"

    def reduce(self, values: Float64, rank_by: Float64 | None = None) -> Float64:
        """Turn samples along the last axis into lowest, mean and highest along the last axis."""
        keep = kept(values if rank_by is None else rank_by, self.trim)
        return low_mean_high(np.where(keep, values, np.nan))

    @property
    def _range(self) -> str:
        return f"{100 * self.trim:g} to {100 - 100 * self.trim:g} %"


@dataclass(frozen=True)
class Quantiles(BandRule):
    """Take plain quantiles, interpolated linearly between samples.

    Parameters
    ----------
    q : sequence of float
        Quantiles, ascending, 0 to 1.

    Raises
    ------
    StoreError
        If q is out of range or does not ascend.

    Examples
    --------
    >>> Quantiles().reduce(np.arange(1.0, 11.0)).tolist()
    [1.9, 5.5, 9.1]
    """

    kind: ClassVar[str] = "quantile"
    dimension: ClassVar[str] = "quantile"
    q: Sequence[float] = QUANTILES

    def __post_init__(self) -> None:
        ascending = list(self.q) == sorted(set(self.q))
        if not self.q or not ascending or self.q[0] < 0 or self.q[-1] > 1:
            raise StoreError(f"q is {list(self.q)}; quantiles ascend and lie between 0 and 1")

    @property
    def labels(self) -> list[float]:
        """The coordinate along `dimension`."""
        return list(self.q)

    @property
    def attrs(self) -> dict[str, Any]:
        """What a result says of the rule that made it."""
        description = f"{', '.join(f'{100 * x:g}' for x in self.q)} % quantiles of the samples"
        return {"kind": self.kind, "q": list(self.q), "description": description}

    @property
    def need(self) -> int:
        """Samples that a cell needs for a band."""
        return LEAST_SAMPLES

    def caption(self, fewest: int, most: int) -> str:
        """Say what line and band of a figure are: of the default three quantiles."""
        return f"Line: median of {_samples(fewest, most)}; band: their 10 to 90 % quantiles"

    def reduce(self, values: Float64, rank_by: Float64 | None = None) -> Float64:
        """Turn samples along the last axis into quantiles along the last axis."""
        return quantiles(values, self.q)


def band_rule(kind: str, trim: float = TRIM, q: Sequence[float] = QUANTILES) -> BandRule:
    """Return the band rule of a name; of its options it takes its own.

    Parameters
    ----------
    kind : {"trimmed", "quantile"}
        A `Trimmed` or a `Quantiles`.
    trim, q
        As for these.

    Raises
    ------
    StoreError
        If the kind is unknown, or trim or q out of range.

    Examples
    --------
    >>> band_rule("quantile", q=[0.25, 0.75])
    Quantiles(q=[0.25, 0.75])
    """
    rules: dict[str, BandRule] = {rule.kind: rule for rule in (Trimmed(trim), Quantiles(q))}
    if kind not in rules:
        raise StoreError(f"unknown kind {kind!r}; known: {', '.join(rules)}")
    return rules[kind]


def _samples(fewest: int, most: int) -> str:
    return f"{most} samples" if fewest == most else f"{fewest} to {most} samples"


def left_out(n: npt.ArrayLike, trim: float) -> Int64:
    """Count the samples to leave out on each side of n.

    Examples
    --------
    >>> left_out([1, 2, 10, 11, 12], 0.1).tolist()
    [0, 1, 1, 1, 2]
    """
    share = (np.asarray(n) - 1) * trim
    return np.ceil(np.round(share, ROUNDING)).clip(min=0).astype(np.int64)


def kept(values: Float64, trim: float) -> Bool:
    """Tell which samples stay when the best and the worst go; NaN never stays, ties go by place.

    Examples
    --------
    >>> kept(np.array([5.0, np.nan, 9.0, 1.0]), 0.1).tolist()
    [True, False, False, False]
    """
    n = np.isfinite(values).sum(axis=-1, keepdims=True)
    order = np.where(np.isfinite(values), values, np.inf).argsort(axis=-1, kind="stable")
    rank = order.argsort(axis=-1)
    k = left_out(n, trim)
    return np.asarray((rank >= k) & (rank < n - k))


def low_mean_high(values: Float64) -> Float64:
    """Return lowest, mean and highest along the last axis, NaN left out, as float64[..., 3].

    Examples
    --------
    >>> low_mean_high(np.array([2.0, np.nan, 4.0])).tolist()
    [2.0, 3.0, 4.0]
    """
    here = np.isfinite(values)
    n = here.sum(axis=-1)
    low = np.where(here, values, np.inf).min(axis=-1, initial=np.inf)
    high = np.where(here, values, -np.inf).max(axis=-1, initial=-np.inf)
    mean = np.where(here, values, 0.0).sum(axis=-1) / np.maximum(n, 1)
    # Summing can leave the mean of equal samples one rounding step outside of them.
    band = np.stack([low, np.clip(mean, low, np.maximum(low, high)), high], axis=-1)
    return np.where((n >= LEAST_SAMPLES)[..., None], band, np.nan)


def quantiles(values: Float64, q: Sequence[float]) -> Float64:
    """Return plain quantiles along the last axis, NaN left out, as float64[..., len(q)].

    Examples
    --------
    >>> quantiles(np.array([1.0, np.nan, 3.0]), [0.5]).tolist()
    [2.0]
    """
    here = np.isfinite(values)
    enough = (here.sum(axis=-1) >= LEAST_SAMPLES)[..., None]
    # An all-NaN row makes numpy warn; such rows are NaN in the end anyway.
    rows = np.where(enough, np.where(here, values, np.nan), 0.0)
    return np.where(enough, np.moveaxis(np.nanquantile(rows, q, axis=-1), 0, -1), np.nan)
