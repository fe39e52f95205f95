"""The stopping rule for samples of one ratio, whose interval has no length."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from schedfarm.core.bootstrap import Block
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.precision import Precision
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.planning.rounds import EXPECTED, FIRST, Verdict, judge, unseen

POLICIES = ("fcfs+easy", "spf+easy")

BASE = np.random.default_rng(3).lognormal(5, 1, 400)


def judged(other: np.ndarray, relative: float, level: float = 0.9) -> Verdict:
    """Judge the rounds of a campaign whose samples have these values."""
    request = Precision(metric="wait", policy=POLICIES[1], relative=relative, level=level)
    trace = Trace(name="m", model="lublin", processors=64, jobs=60)
    campaign = Campaign(
        name="c", traces=(trace,), policies=POLICIES, resamples=400, precision=(request,)
    )

    def first(samples: int) -> Block:
        return BASE[:samples, None], other[:samples, None]

    return judge(campaign, lambda samples: lambda *_: first(samples), 400)


@pytest.mark.parametrize("factor", [1.0, 3.0, 0.1], ids=["equal", "larger", "smaller"])
@pytest.mark.parametrize(
    ("relative", "level", "needed"),
    [(0.02, 0.9, 141), (0.05, 0.9, 50), (0.02, 0.95, 181), (0.2, 0.9, FIRST)],
)
def test_samples_of_one_ratio_are_enough_once_rarer_others_hardly_matter(
    factor: float, relative: float, level: float, needed: int
) -> None:
    """The number is the least n with E[(1 - p)^n] >= (1 - relative)^n / (1 - level), p ~ Beta."""
    found = judged(factor * BASE, relative, level)
    assert found.is_met
    assert (found.samples, found.stopped) == (needed, True)
    assert found.rounds[-1].estimates[0].ratio == pytest.approx(factor)
    if needed > FIRST:
        wide = 1 / EXPECTED
        n = np.array([needed - 1, needed])
        # The integral of (1 - p)^n over Beta(1, wide) is wide / (wide + n).
        enough = wide / (wide + n) >= (1 - relative) ** n / (1 - level)
        assert enough.tolist() == [False, True]


def test_a_rare_sample_with_another_ratio_is_found() -> None:
    """Sampling goes on to the last sample: 3 of 400 give no interval, nor as few as 1.5 %."""
    other = BASE.copy()
    other[[30, 77, 93]] *= 4
    found = judged(other, 0.01)
    first, last = found.rounds[0].estimates[0], found.rounds[-1].estimates[0]
    assert first.ratio == 1 < last.ratio
    assert all(np.isnan([one.low, one.high]).all() for one in (first, last))
    assert not first.is_short
    assert (found.samples, found.is_met) == (400, False)
    # Three of 400 samples are ten times as likely by the prior as by this share.
    prior = stats.beta(1, 1 / EXPECTED)
    by_prior = prior.expect(lambda p: stats.binom.pmf(3, 400, p), epsabs=1e-12)
    assert stats.binom.pmf(3, 400, last.half) == pytest.approx(0.1 * by_prior)
    assert "ratio 1.01 (most pairs have one ratio, up to 2.4 % another), 1 % requested" in str(last)
    assert last.to_dict()["low"] is None


def test_the_bound_of_a_share_holds_at_every_number_of_samples_together() -> None:
    """Of 1,000 series with a share of 3 %, at most a tenth has a bound below it at any look.

    Clopper and Pearson's bound, at the same looks, is below it in more than a fifth of them.
    """
    looks = [int(20 * 1.2**i) for i in range(20)]
    seen = np.random.default_rng(8).random((1000, looks[-1])) < 0.03
    counts = np.cumsum(seen, axis=1)[:, [n - 1 for n in looks]]
    bounds = {
        (k, n): unseen(k, n, 0.9)
        for n, column in zip(looks, counts.T, strict=True)
        for k in set(column.tolist())
    }
    missed = [min(bounds[k, n] for k, n in zip(row, looks, strict=True)) < 0.03
              for row in counts.tolist()]  # fmt: skip
    assert 0 < np.mean(missed) <= 0.1
    exact = stats.beta.ppf(0.9, counts + 1, np.array(looks) - counts)
    assert np.mean((exact < 0.03).any(axis=1)) > 0.2


def test_the_rarer_half__an_interval() -> None:
    """Half of the pairs may have one ratio, not more."""
    even = np.arange(len(BASE)) % 2 == 0
    ends = [judged(np.where(rare, 2, 1) * BASE, 0.2).rounds[0].estimates[0].low
            for rare in (even, even & (np.arange(len(BASE)) != 4))]  # fmt: skip
    assert np.isnan(ends).tolist() == [False, True]
