"""What a band is: which samples count, and which numbers stand for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from analysis.errors import StoreError

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]

BAND = ("low", "mean", "high")
"""Labels of a trimmed band."""

LEAST = 2
"""Samples that must remain for a band: one sample would give a band of no width, which would look
like certainty."""

ROUNDING = 9
"""Decimals kept of (n - 1) x trim before rounding up: 70 x 0.1 is 7.000000000000001 in binary."""


@dataclass(frozen=True)
class Rule:
    """Say how samples become a band.

    Parameters
    ----------
    kind : {"trimmed", "quantile"}
        ``trimmed``: leave out the best and the worst samples, then lowest, mean and highest of
        the rest, the published rule (Carastan-Santos et al. 2019, section V-A). ``quantile``:
        plain quantiles, interpolated linearly between samples.
    trim : float
        Share left out on each side, 0 <= trim < 0.5. The samples that stay are those within the
        trim to 1 - trim percentile range, so ceil((n - 1) x trim) go on each side: one for 2 to
        11 samples at 0.1, two for 12 to 21.
    q : sequence of float
        Quantiles, ascending, 0 to 1.

    Raises
    ------
    StoreError
        If the kind is unknown, or trim or q out of range.

    Examples
    --------
    >>> Rule().reduce(np.arange(1.0, 11.0)).tolist()
    [2.0, 5.5, 9.0]
    >>> Rule("quantile").reduce(np.arange(1.0, 11.0)).tolist()
    [1.9, 5.5, 9.1]
    """

    kind: str = "trimmed"
    trim: float = 0.1
    q: Sequence[float] = (0.1, 0.5, 0.9)

    def __post_init__(self) -> None:
        if self.kind not in ("trimmed", "quantile"):
            raise StoreError(f"unknown kind {self.kind!r}; known: trimmed, quantile")
        if not 0 <= self.trim < 0.5:
            raise StoreError(f"trim is {self.trim}; it must be at least 0 and below 0.5")
        ascending = list(self.q) == sorted(set(self.q))
        if not self.q or not ascending or self.q[0] < 0 or self.q[-1] > 1:
            raise StoreError(f"q is {list(self.q)}; quantiles ascend and lie between 0 and 1")

    @property
    def dimension(self) -> str:
        """The dimension along which a band's numbers stand."""
        return "band" if self.kind == "trimmed" else "quantile"

    @property
    def labels(self) -> list[str] | list[float]:
        """The coordinate along `dimension`."""
        return list(BAND) if self.kind == "trimmed" else list(self.q)

    @property
    def attrs(self) -> dict[str, Any]:
        """What a result says of the rule that made it."""
        option = {"trim": self.trim} if self.kind == "trimmed" else {"q": list(self.q)}
        return {"kind": self.kind, **option, "description": self.description}

    @property
    def description(self) -> str:
        """The band in words, for the head of a table or figure."""
        if self.kind == "quantile":
            return f"{', '.join(f'{100 * x:g}' for x in self.q)} % quantiles of the samples"
        if self.trim == 0:
            return "lowest, mean and highest of the samples"
        sides = f"{100 * self.trim:g} to {100 - 100 * self.trim:g}"
        return f"lowest, mean and highest of the samples within the {sides} % range"

    @property
    def need(self) -> int:
        """Samples that a cell needs for a band."""
        if self.kind == "quantile":
            return LEAST
        n = LEAST
        while n - 2 * int(left_out(np.array(n), self.trim)) < LEAST:
            n += 1
        return n

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
            NaN where fewer than `LEAST` samples remain.
        """
        if self.kind == "trimmed":
            keep = kept(values if rank_by is None else rank_by, self.trim)
            return low_mean_high(np.where(keep, values, np.nan))
        return quantiles(values, self.q)


def left_out(n: npt.ArrayLike, trim: float) -> Int64:
    """Count the samples to leave out on each side of n.

    Examples
    --------
    >>> left_out([1, 2, 10, 11, 12], 0.1).tolist()
    [0, 1, 1, 1, 2]
    """
    share = (np.asarray(n) - 1) * trim
    return np.ceil(np.round(share, ROUNDING)).clip(min=0).astype(np.int64)


def kept(values: Float64, trim: float) -> npt.NDArray[np.bool_]:
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
    return np.where((n >= LEAST)[..., None], band, np.nan)


def quantiles(values: Float64, q: Sequence[float]) -> Float64:
    """Return plain quantiles along the last axis, NaN left out, as float64[..., len(q)].

    Examples
    --------
    >>> quantiles(np.array([1.0, np.nan, 3.0]), [0.5]).tolist()
    [2.0]
    """
    here = np.isfinite(values)
    enough = (here.sum(axis=-1) >= LEAST)[..., None]
    # An all-NaN row makes numpy warn; such rows are NaN in the end anyway.
    rows = np.where(enough, np.where(here, values, np.nan), 0.0)
    return np.where(enough, np.moveaxis(np.nanquantile(rows, q, axis=-1), 0, -1), np.nan)
