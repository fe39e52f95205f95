"""Rules of bands: the samples that count, and the numbers that represent them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from schedfarm.analysis.errors import StoreError
from schedfarm.core.arrays import Bool, Float64, Int64
from schedfarm.core.names import choices

BAND = ("low", "trimmed_mean", "high")
"""Labels of a trimmed band."""

RANGE = ("min", "median", "max")
"""Labels of a band of all samples."""

INTERVAL = ("low", "mean", "high")
"""Labels of an interval of the mean."""

TRIM = 0.1
"""Default share of samples left out on each side."""

TRIMMED_FROM = 10
"""Least number of samples for which a band is trimmed by default. With fewer, a tenth on each side
is less than one sample, and two of four samples would represent all."""

QUANTILES = (0.1, 0.5, 0.9)
"""Default quantiles of a band."""

LEVEL = 0.9
"""Default level of an interval."""

LEAST_SAMPLES = 2
"""Least number of remaining samples for a band: one sample would give a band of width zero, which
would look like certainty."""

HALL = "Student's t, corrected for skewness"

WIDENED = 0.5
"""Widening of an interval of a mean: its length grows by this number divided by the number of
samples. Without widening, 84 to 88 % of the 90 % intervals of 5 and 10 samples held the mean of
model workloads (docs/comparisons.md, Coverage)."""

STRAIGHT = 1e-6
"""Skewness up to which the transformation is the identity."""

ROUNDING = 9
"""Decimals for rounding (n - 1) x trim before taking the ceiling, and for deciding whether a rank
is whole: 70 x 0.1 is 7.000000000000001 in binary."""


class BandRule(ABC):
    """Define the interface of band rules; a rule reduces samples to a band."""

    kind: ClassVar[str]
    """Name of the rule."""

    dimension: ClassVar[str] = "band"
    """Dimension of the numbers of a band."""

    whole: ClassVar[bool] = False
    """Whether whole samples are left out; all ranks are then ranks of the numbers that decide."""

    @property
    @abstractmethod
    def labels(self) -> list[str] | list[float]:
        """The coordinate along `dimension`."""

    @property
    @abstractmethod
    def options(self) -> dict[str, Any]:
        """The parameters of the rule, by name."""

    @abstractmethod
    def describe(self, n: int) -> str:
        """Describe the numbers of n samples, and their expected coverage."""

    @abstractmethod
    def ranks(self, n: npt.ArrayLike) -> tuple[Float64, Float64]:
        """Return the ranks of the first and last sample that a band of n samples spans, ascending.

        A fractional rank lies between two samples. The ranks are NaN if n samples give no band.
        """

    @abstractmethod
    def caption(self, fewest: int, most: int, by: str = "") -> str:
        """Describe the line and the band of a figure whose cells have `fewest` to `most` samples.

        Parameters
        ----------
        fewest, most : int
            Numbers of samples of the cells with the fewest and with the most samples.
        by : str
            The quantity by which whole samples are ranked, if the rule leaves out whole samples.
        """

    @abstractmethod
    def reduce(self, values: Float64, rank_by: Float64 | None = None) -> Float64:
        """Reduce samples along the last axis to a band along the last axis.

        Parameters
        ----------
        values : float64[..., s]
            One number per sample; NaN if missing.
        rank_by : float64[..., s], optional
            Numbers that determine the best and worst whole samples; by default the values.

        Returns
        -------
        float64[..., b]
            NaN if fewer than `LEAST_SAMPLES` samples remain.
        """

    @property
    def need(self) -> int:
        """Number of samples that a cell needs for a band."""
        return LEAST_SAMPLES

    def fitting(self, n: int) -> BandRule:
        """Return the rule for a store whose largest cell has n samples."""
        return self

    def coverage(self, n: npt.ArrayLike) -> Float64:
        """Return the expected share of the population of samples within a band of n samples.

        In expectation, (k - i) / (n + 1) of all possible samples lie between the i-th and the k-th
        of n independent samples, for any continuous distribution (David and Nagaraja, Order
        Statistics, 2003, section 2.5). Between interpolated ranks, this share holds for uniform
        samples and approximately for other distributions. NaN without a band.
        """
        first, last = self.ranks(n)
        return np.asarray((last - first) / (np.asarray(n) + 1))

    def attrs(self, n: int) -> dict[str, Any]:
        """Return the attributes that describe the rule for a result of n samples."""
        first, last = (float(x) for x in self.ranks(n))
        said = {"kind": self.kind, **self.options, "samples": ranks_text(first, last, n)}
        share = float(self.coverage(n))
        covers = {"coverage": share} if np.isfinite(share) else {}
        return {**said, **covers, "description": self.describe(n)}


class _Band(BandRule):
    """Implement the methods that all bands of samples share; `Interval` has other methods."""

    line: ClassVar[str]
    """Meaning of the line in a figure."""

    def caption(self, fewest: int, most: int, by: str = "") -> str:
        """Return a caption for line and band of cells with `fewest` to `most` samples.

        Examples
        --------
        >>> Trimmed().caption(10, 10, "their mean over all jobs").splitlines()[0]
        'Line: mean of the samples in the band, chosen by their mean over all jobs'
        """
        chosen = f", chosen by {by}" if by and self.whole else ""
        return f"Line: {self.line}{chosen}\nBand: {self.spans(fewest, most)}"

    def spans(self, fewest: int, most: int) -> str:
        """Return `span` for cells with `fewest` to `most` samples, in two lines if these differ.

        Examples
        --------
        >>> Range().spans(3, 4).splitlines()[1]
        'At the fewest samples 1 to 3 of 3, which hold 50.0 % of all such samples in expectation'
        """
        text = self.span(most)
        return text if fewest == most else f"{text}\nAt the fewest {self.span(fewest)}"

    def ends(self, counts: Iterable[int]) -> tuple[int, int]:
        """Return the least and largest number of samples among cells with enough for a band.

        Examples
        --------
        >>> Trimmed().ends([4, 10, 3]), Trimmed().ends([2, 3])
        ((4, 10), (3, 3))
        """
        numbers = {int(n) for n in counts}
        enough = [n for n in numbers if n >= self.need] or [max(numbers)]
        return min(enough), max(enough)

    def span(self, n: int) -> str:
        """Describe the samples that a band of n samples spans, and their expected coverage.

        Examples
        --------
        >>> Trimmed().span(10)
        'samples 2 to 9 of 10, which hold 63.6 % of all such samples in expectation'
        >>> Quantiles().span(10)
        'samples 1.9 to 9.1 of 10, which hold about 65.5 % of all such samples in expectation'
        >>> Trimmed().span(3)
        'none of 3 samples: too few'
        """
        if n < self.need:
            return f"none of {n} samples: too few"
        first, last = (float(x) for x in self.ranks(n))
        share = share_text(first, last, float(self.coverage(n)))
        samples = ranks_text(first, last, n)
        return f"samples {samples}, which hold {share} of all such samples in expectation"


@dataclass(frozen=True)
class Trimmed(_Band):
    """Leave out the best and the worst samples: lowest, mean and highest of the other samples.

    This is the published rule (Carastan-Santos et al. 2019, section V-A).

    Parameters
    ----------
    trim : float
        Share left out on each side, 0 <= trim < 0.5. The remaining samples are within the trim to 1
        - trim percentile range, so ceil((n - 1) x trim) samples are left out on each side. At 0.1,
        this is one sample for n = 2 to 11, and two samples for n = 12 to 21. The remaining samples
        cover a smaller share of all possible samples: `coverage`.

    Raises
    ------
    StoreError
        If trim is out of range.

    Examples
    --------
    >>> Trimmed().reduce(np.arange(1.0, 11.0)).tolist(), round(float(Trimmed().coverage(10)), 3)
    ([2.0, 5.5, 9.0], 0.636)
    """

    kind: ClassVar[str] = "trimmed"
    whole: ClassVar[bool] = True
    line: ClassVar[str] = "mean of the samples in the band"
    trim: float = TRIM

    def __post_init__(self) -> None:
        if not 0 <= self.trim < 0.5:
            raise StoreError(f"trim is {self.trim}; it must be at least 0 and below 0.5")

    @property
    def labels(self) -> list[str]:
        """The coordinate along `dimension`."""
        return list(BAND)

    @property
    def options(self) -> dict[str, Any]:
        """The parameters of the rule, by name."""
        return {"trim": self.trim}

    @property
    def need(self) -> int:
        """Number of samples that a cell needs for a band."""
        n = LEAST_SAMPLES
        while n - 2 * int(left_out(np.array(n), self.trim)) < LEAST_SAMPLES:
            n += 1
        return n

    def describe(self, n: int) -> str:
        """Describe the numbers of n samples, and their expected coverage."""
        return f"lowest, mean and highest of {self.span(n)}"

    def ranks(self, n: npt.ArrayLike) -> tuple[Float64, Float64]:
        """Return the first and the last rank that a band of n samples spans."""
        gone = left_out(n, self.trim)
        return _ranks(gone + 1, np.asarray(n) - gone)

    def reduce(self, values: Float64, rank_by: Float64 | None = None) -> Float64:
        """Reduce samples along the last axis to lowest, mean and highest."""
        keep = kept(values if rank_by is None else rank_by, self.trim)
        return low_mean_high(np.where(keep, values, np.nan))


@dataclass(frozen=True)
class TrimmedMedian(Trimmed):
    """Leave out the best and the worst samples; the middle is the median of all samples.

    Examples
    --------
    >>> TrimmedMedian().reduce(np.array([1.0, 2.0, 3.0, 9.0, 50.0])).tolist()
    [2.0, 3.0, 9.0]
    """

    whole: ClassVar[bool] = False
    line: ClassVar[str] = "median of the samples"

    @property
    def labels(self) -> list[str]:
        """The coordinate along `dimension`."""
        return ["low", "median", "high"]

    def describe(self, n: int) -> str:
        """Describe the numbers of n samples, and their expected coverage."""
        return f"lowest and highest of {self.span(n)}, and the median of all"

    def reduce(self, values: Float64, rank_by: Float64 | None = None) -> Float64:
        """Reduce samples along the last axis to lowest, median of all, and highest."""
        band = super().reduce(values, rank_by)
        band[..., 1] = quantiles(values, [0.5])[..., 0]
        return band


@dataclass(frozen=True)
class Range(_Band):
    """Take all samples: the least, the median and the largest.

    Examples
    --------
    >>> Range().reduce(np.array([4.0, 1.0, 2.0, 9.0])).tolist(), float(Range().coverage(4))
    ([1.0, 3.0, 9.0], 0.6)
    """

    kind: ClassVar[str] = "range"
    line: ClassVar[str] = "median of the samples"

    @property
    def labels(self) -> list[str]:
        """The coordinate along `dimension`."""
        return list(RANGE)

    @property
    def options(self) -> dict[str, Any]:
        """The parameters of the rule, by name."""
        return {}

    def describe(self, n: int) -> str:
        """Describe the numbers of n samples, and their expected coverage."""
        return f"least, median and largest of {self.span(n)}"

    def ranks(self, n: npt.ArrayLike) -> tuple[Float64, Float64]:
        """Return the first and the last rank that a band of n samples spans."""
        return _ranks(np.ones_like(n), np.asarray(n))

    def reduce(self, values: Float64, rank_by: Float64 | None = None) -> Float64:
        """Reduce samples along the last axis to least, median and largest."""
        return quantiles(values, (0.0, 0.5, 1.0))


@dataclass(frozen=True)
class Automatic(Trimmed):
    """Choose by the number of samples: `Trimmed` from `TRIMMED_FROM` samples on, else `Range`.

    Examples
    --------
    >>> Automatic().fitting(9), Automatic().fitting(10)
    (Range(), Trimmed(trim=0.1))
    """

    kind: ClassVar[str] = "auto"

    @property
    def need(self) -> int:
        """Number of samples that a cell needs for a band."""
        return LEAST_SAMPLES

    def fitting(self, n: int) -> BandRule:
        """Return the rule for a store whose largest cell has n samples."""
        return Range() if n < TRIMMED_FROM else Trimmed(self.trim)


@dataclass(frozen=True)
class Quantiles(_Band):
    """Take plain quantiles, interpolated linearly between samples.

    Parameters
    ----------
    q : sequence of float
        Quantiles, ascending, 0 to 1. For quantiles between two samples, `coverage` is that of
        uniform samples: ten lognormal samples (sigma 2) hold 67.2 % by default, not 65.5 %.

    Raises
    ------
    StoreError
        If q is out of range or does not ascend.

    Examples
    --------
    >>> Quantiles().reduce(np.arange(1.0, 11.0)).tolist(), round(float(Quantiles().coverage(10)), 3)
    ([1.9, 5.5, 9.1], 0.655)
    """

    kind: ClassVar[str] = "quantile"
    dimension: ClassVar[str] = "quantile"
    line: ClassVar[str] = "median of the samples"
    q: Sequence[float] = QUANTILES

    def __post_init__(self) -> None:
        ascending = list(self.q) == sorted(set(self.q))
        if not self.q or not ascending or self.q[0] < 0 or self.q[-1] > 1:
            raise StoreError(f"q is {list(self.q)}; quantiles ascend and lie between 0 and 1")

    @property
    def labels(self) -> list[float]:
        """The coordinate along `dimension`."""
        return [float(x) for x in self.q]

    @property
    def options(self) -> dict[str, Any]:
        """The parameters of the rule, by name."""
        return {"q": list(self.q)}

    def describe(self, n: int) -> str:
        """Describe the numbers of n samples, and their expected coverage."""
        return f"{', '.join(f'{100 * x:g}' for x in self.q)} % quantiles, {self.span(n)}"

    def ranks(self, n: npt.ArrayLike) -> tuple[Float64, Float64]:
        """Return the first and the last rank that a band of n samples spans."""
        most = np.asarray(n) - 1
        return _ranks(1 + most * self.q[0], 1 + most * self.q[-1])

    def reduce(self, values: Float64, rank_by: Float64 | None = None) -> Float64:
        """Reduce samples along the last axis to quantiles."""
        return quantiles(values, self.q)


@dataclass(frozen=True)
class Interval(BandRule):
    """Take the mean of all samples and its interval, which is not a band of samples.

    The interval states how well this number of samples determines the mean of all possible samples.
    It narrows as the number of samples grows. A band describes how samples differ, and does not
    narrow. Since samples of waits are skewed, the interval is Student's after the transformation of
    Hall (1992), which removes the skewness. There is no interval if most samples have one value:
    rarer values then decide the mean, and too few of them are known.

    Parameters
    ----------
    level : float
        The share of such intervals that contain the mean, 0 < level < 1.

    Raises
    ------
    StoreError
        If the level is out of range.

    Examples
    --------
    >>> Interval().reduce(np.arange(1.0, 11.0)).round(2).tolist()
    [3.66, 5.5, 7.34]
    >>> Interval().reduce(np.array([1.0, 2.0, 2.0, 3.0, 14.0])).round(2).tolist()
    [0.93, 4.4, 20.46]
    """

    kind: ClassVar[str] = "interval"
    dimension: ClassVar[str] = "interval"
    level: float = LEVEL

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise StoreError(f"level is {self.level}; it must be above 0 and below 1")

    @property
    def labels(self) -> list[str]:
        """The coordinate along `dimension`."""
        return list(INTERVAL)

    @property
    def options(self) -> dict[str, Any]:
        """The parameters of the rule, by name."""
        return {"level": self.level}

    def describe(self, n: int) -> str:
        """Describe the numbers of n samples."""
        return f"mean of {n} samples and its {100 * self.level:g} % interval ({HALL})"

    def caption(self, fewest: int, most: int, by: str = "") -> str:
        """Describe the line and the band of a figure, for cells with this number of samples."""
        samples = f"{most} samples" if fewest == most else f"{fewest} to {most} samples"
        return f"Line: mean of {samples}\nBand: its {100 * self.level:g} % interval ({HALL})"

    def ranks(self, n: npt.ArrayLike) -> tuple[Float64, Float64]:
        """Return the first and the last rank of n samples, since all contribute to the mean."""
        return _ranks(np.ones_like(n), np.asarray(n))

    def coverage(self, n: npt.ArrayLike) -> Float64:
        """Return NaN, since an interval of the mean has no coverage of samples."""
        return np.full(np.shape(n), np.nan)

    def reduce(self, values: Float64, rank_by: Float64 | None = None) -> Float64:
        """Reduce samples along the last axis to low end, mean and high end."""
        from scipy.special import stdtrit

        here = np.isfinite(values)
        count = here.sum(axis=-1)
        n = np.where(count >= LEAST_SAMPLES, count, np.nan)
        mean = np.where(here, values, 0.0).sum(axis=-1) / n
        apart = np.where(here, values - mean[..., None], 0.0)
        squares, cubes = (apart**2).sum(axis=-1), (apart**3).sum(axis=-1)
        with np.errstate(divide="ignore", invalid="ignore"):
            skewness = np.sqrt(n - 1) * n / (n - 2) * cubes / squares**1.5
        skewed = np.isfinite(skewness) & (np.abs(skewness) > STRAIGHT)
        skewness = np.where(skewed, skewness, 1.0)
        student = stdtrit(n - 1, (1 + self.level) / 2) * (1 + WIDENED / n) / np.sqrt(n)

        def end(sign: int) -> Float64:
            cube = 1 + skewness * (sign * student - skewness / (6 * n))
            return np.where(skewed, 3 / skewness * (np.cbrt(cube) - 1), sign * student)

        deviation = np.where(mostly_one(values), np.nan, np.sqrt(squares / (n - 1)))
        low, high = (mean - end(sign) * deviation for sign in (1, -1))
        return np.stack([low, mean, high], axis=-1)


def mostly_one(values: Float64) -> Bool:
    """Return whether more than half of the samples along the last axis have one value.

    Examples
    --------
    >>> mostly_one(np.array([[1.0, 1, 1, 2, 5], [1.0, 1, 2, 2, np.nan]])).tolist()
    [True, False]
    """
    ordered = np.sort(values, axis=-1)
    count = np.isfinite(values).sum(axis=-1)
    found = np.zeros(count.shape, np.bool_)
    # NaN is last in the order, and equal to nothing.
    for n in np.unique(count[count >= LEAST_SAMPLES]).tolist():
        same = ordered[..., n // 2 :] == ordered[..., : ordered.shape[-1] - n // 2]
        found |= (count == n) & same.any(axis=-1)
    return found


def band_rule(
    kind: str = Automatic.kind,
    trim: float = TRIM,
    q: Sequence[float] = QUANTILES,
    level: float = LEVEL,
) -> BandRule:
    """Return the band rule of this kind; options of other rules are ignored.

    Parameters
    ----------
    kind : {"auto", "trimmed", "range", "quantile", "interval"}
        An `Automatic`, a `Trimmed`, a `Range`, a `Quantiles` or an `Interval`.
    trim, q, level
        Options of these classes.

    Raises
    ------
    StoreError
        If the kind is unknown, or if trim, q or level is out of range.

    Examples
    --------
    >>> band_rule("quantile", q=[0.25, 0.75])
    Quantiles(q=[0.25, 0.75])
    """
    rows = (Automatic(trim), Trimmed(trim), Range(), Quantiles(q), Interval(level))
    rules: dict[str, BandRule] = {rule.kind: rule for rule in rows}
    if kind not in rules:
        raise StoreError(f"unknown kind {kind!r}; {choices(kind, rules)}")
    return rules[kind]


def ranks_text(first: float, last: float, n: int) -> str:
    """Describe the ranks of the samples, out of n samples, that determine a number.

    Examples
    --------
    >>> ranks_text(2, 9, 10)
    '2 to 9 of 10'
    """
    return f"{_rank(first)} to {_rank(last)} of {n}"


def _rank(x: float) -> str:
    """Write a rank among samples with three digits, or with all digits of its integer part.

    Examples
    --------
    >>> _rank(1.904), _rank(1000.9)
    ('1.9', '1001')
    """
    return f"{x:.3g}" if x < 1000 else f"{x:.0f}"


def share_text(first: float, last: float, share: float) -> str:
    """Return the expected share of all samples within a band between two ranks, as text.

    Between interpolated ranks, the share depends slightly on the distribution, hence "about".

    Examples
    --------
    >>> share_text(2, 9, 7 / 11), share_text(1.9, 9.1, 7.2 / 11)
    ('63.6 %', 'about 65.5 %')
    """
    ranks = np.round([first, last], ROUNDING)
    about = "" if (ranks == np.rint(ranks)).all() else "about "
    return f"{about}{100 * share:.1f} %"


def _ranks(first: npt.ArrayLike, last: npt.ArrayLike) -> tuple[Float64, Float64]:
    low, high = np.asarray(first, np.float64), np.asarray(last, np.float64)
    there = high > low
    return np.where(there, low, np.nan), np.where(there, high, np.nan)


def left_out(n: npt.ArrayLike, trim: float) -> Int64:
    """Return the number of samples to leave out on each side of n samples.

    Examples
    --------
    >>> left_out([1, 2, 10, 11, 12], 0.1).tolist()
    [0, 1, 1, 1, 2]
    """
    share = (np.asarray(n) - 1) * trim
    return np.ceil(np.round(share, ROUNDING)).clip(min=0).astype(np.int64)


def kept(values: Float64, trim: float) -> Bool:
    """Return the mask of samples within the trim, without NaN; ties are broken by index.

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
    """Return lowest, mean and highest along the last axis, without NaN, as float64[..., 3].

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
    # Because of rounding, the mean of equal samples can lie one step outside their range.
    band = np.stack([low, np.clip(mean, low, np.maximum(low, high)), high], axis=-1)
    return np.where((n >= LEAST_SAMPLES)[..., None], band, np.nan)


def quantiles(values: Float64, q: Sequence[float]) -> Float64:
    """Return plain quantiles along the last axis, without NaN, as float64[..., len(q)].

    Examples
    --------
    >>> quantiles(np.array([1.0, np.nan, 3.0]), [0.5]).tolist()
    [2.0]
    """
    here = np.isfinite(values)
    found = np.full((*values.shape[:-1], len(q)), np.nan)
    count = here.sum(axis=-1)
    whole = (count == values.shape[-1]) & (count >= LEAST_SAMPLES)
    if whole.any():
        found[whole] = np.quantile(values[whole], q, axis=-1).T
    # numpy would take 50 us for each of these rows.
    partial = ~whole & (count >= LEAST_SAMPLES)
    if partial.any():
        rows = np.where(here[partial], values[partial], np.nan)
        found[partial] = np.nanquantile(rows, q, axis=-1).T
    return found
