"""The Lublin-Feitelson model against its published distributions, and the f-model's estimates.

Tolerances are five standard deviations of the statistic at the size of the sample.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from schedfarm.core import InputError, Workload, lublin, offered_load
from schedfarm.core.models.estimates import GRAIN, f_model
from schedfarm.core.models.lublin import (
    ALL,
    BATCH,
    BUCKET,
    BUCKETS,
    INTERACTIVE,
    LONGEST_GAP,
    LONGEST_RUN,
    Class,
    _arrivals,
    _daily_cycle,
    _runs,
    _sizes,
)
from schedfarm.core.philox import philox
from schedfarm.core.workload.resample_weeks import WEEK

N = 100_000
KEY = ("test", 1, 1)


def assert_share(hits: np.ndarray, probability: float) -> None:
    """The share of hits is that of n independent draws of this probability."""
    error = math.sqrt(probability * (1 - probability) / hits.size)
    assert abs(hits.mean() - probability) <= 5 * error


def uniform_two(kind: Class, high: float, below: float) -> float:
    """Probability that the two-stage uniform log2 of a size is below this."""
    middle = high - kind.upper
    first = np.clip((below - kind.ulow) / (middle - kind.ulow), 0, 1)
    second = np.clip((below - middle) / (high - middle), 0, 1)
    return float(kind.uprob * first + (1 - kind.uprob) * second)


@pytest.mark.parametrize(("kind", "high"), [(ALL, 7.0), (BATCH, 7.0), (INTERACTIVE, 5.5)])
def test_sizes_have_the_published_distribution(kind: Class, high: float) -> None:
    """Serial jobs, powers of two and the rest have the shares of the program, size by size."""
    sizes = _sizes(kind, 128, N, KEY)
    assert sizes.max() <= round(2**high)
    assert_share(sizes == 1, kind.serial)
    for size in (2, 3, 4, 8, 12, 16, 31, 32, 64, 128):
        log = math.log2(size)
        rest = (1 - kind.serial - kind.pow2) * (
            uniform_two(kind, high, math.log2(size + 0.5))
            - uniform_two(kind, high, math.log2(size - 0.5))
        )
        power = uniform_two(kind, high, log + 0.5) - uniform_two(kind, high, log - 0.5)
        assert_share(sizes == size, rest + (kind.pow2 * power if log % 1 == 0 else 0))


@pytest.mark.parametrize("kind", [ALL, BATCH, INTERACTIVE])
@pytest.mark.parametrize("procs", [1, 32, 128])
def test_runs_have_the_published_distribution(kind: Class, procs: int) -> None:
    """Run times are e to a mixture of gammas, which depends on the size, cut at e^12 s."""
    runs = _runs(kind, np.full(N, procs), KEY)
    share = min(max(kind.pa * procs + kind.pb, 0), 1)

    def below(log: float) -> float:
        one = stats.gamma.cdf(log, kind.a1, scale=kind.b1)
        two = stats.gamma.cdf(log, kind.a2, scale=kind.b2)
        return float(share * one + (1 - share) * two)

    assert runs.max() <= math.exp(LONGEST_RUN)
    for seconds in (2, 10, 60, 600, 3_600, 14_400, 43_200):
        assert_share(runs <= seconds, below(math.log(seconds + 1)) / below(LONGEST_RUN))


def test_mean_log_run_time_is_the_published_one() -> None:
    """Over all jobs the mean of log(run time) is that of the mixture over sizes."""
    w = lublin(128, jobs=N, seed=3)
    log = np.log(w.run + 0.5)
    share = np.clip(ALL.pa * w.procs + ALL.pb, 0, 1).mean()

    def mean(a: float, b: float) -> float:
        density = stats.gamma(a, scale=b).pdf
        return float(integrate.quad(lambda x: x * density(x), 0, LONGEST_RUN, limit=200)[0])

    mass = share * stats.gamma.cdf(12, ALL.a1, scale=ALL.b1) + (1 - share)
    expected = (share * mean(ALL.a1, ALL.b1) + (1 - share) * ALL.a2 * ALL.b2) / mass
    # Whole seconds instead of real ones move the mean log by less than 0.01.
    assert abs(log.mean() - expected) < 5 * log.std() / math.sqrt(N) + 0.01


def test_daily_cycle_is_the_gamma_distribution() -> None:
    """Half-hour weights are differences of the gamma's distribution function, of mean 1."""
    for kind in (ALL, BATCH, INTERACTIVE):
        step = np.arange(11, 59)
        cdf = stats.gamma(kind.anum, scale=kind.bnum).cdf
        expected = np.empty(BUCKETS)
        expected[(step - 1) % BUCKETS] = cdf(step + 0.5) - cdf(step - 0.5)
        assert np.allclose(_daily_cycle(kind), expected / expected.mean(), rtol=1e-12, atol=0)


def test_daily_cycle_is_a_known_one() -> None:
    """Midnight, the trough at 5:00, the peak at 13:30 and the last half hour, as literals."""
    cycle = _daily_cycle(ALL)
    assert (int(cycle.argmin()), int(cycle.argmax())) == (10, 27)
    known = [0.5078207247256018, 0.1649178732441599, 1.8331139006295787, 0.5636919148885705]
    assert cycle[[0, 10, 27, 47]].tolist() == pytest.approx(known, rel=1e-12)


def test_arrivals_walk_the_buckets() -> None:
    """The inverted running sum equals the program's walk, which pays each bucket its weight."""
    # Reference implementation: the walk in plain Python over the same gaps.
    draw = np.random.Generator(philox(*KEY, ALL.name, "arrivals"))
    weight, expected = _daily_cycle(ALL).tolist(), []
    points, bucket, begun = 0.0, 0, 0
    for log in draw.gamma(ALL.aarr * ALL.arar, ALL.barr, 4_096).tolist():
        if log > LONGEST_GAP:
            continue
        points += math.exp(log) / BUCKET
        while points > weight[bucket]:
            points -= weight[bucket]
            bucket, begun = (bucket + 1) % BUCKETS, begun + BUCKET
        expected.append(begun + BUCKET * points / weight[bucket])
    found = next(_arrivals(ALL, KEY))
    assert found.size == len(expected)
    # Sums in another order: the difference is far below a second, until it is rounded down.
    assert np.abs(found + 0.5 - np.array(expected)).max() < 0.5 + 1e-5


def test_mean_gap_is_the_gammas() -> None:
    """A gap lasts as long on average as e^gamma: the weights have mean 1."""
    w = lublin(128, jobs=N, seed=5)
    shape, scale = ALL.aarr * ALL.arar, ALL.barr
    density = stats.gamma(shape, scale=scale).pdf
    mass = stats.gamma.cdf(LONGEST_GAP, shape, scale=scale)
    moment = [
        integrate.quad(lambda x, k=k: math.exp(k * x) * density(x), 0, LONGEST_GAP, limit=200)[0]
        / mass
        for k in (1, 2)
    ]
    error = math.sqrt((moment[1] - moment[0] ** 2) / N)
    assert abs(w.submit[-1] / N - moment[0]) < 5 * error


def test_arrivals_follow_the_daily_cycle() -> None:
    """Over many days each half hour's share of the jobs is its weight."""
    submit = lublin(128, jobs=N, seed=5).submit
    days = int(submit[-1]) // 86_400
    bucket = (submit // BUCKET)[submit < days * 86_400]
    counts = np.bincount(bucket, minlength=days * BUCKETS).reshape(days, BUCKETS)
    share = counts.mean(axis=0) / counts.mean()
    error = counts.std(axis=0) / math.sqrt(days) / counts.mean()
    assert (np.abs(share - _daily_cycle(ALL)) < 5 * error).all()


def same_start(short: Workload, long: Workload) -> bool:
    n = len(short)
    columns = ("submit", "run", "estimate", "procs", "user", "job", "killed")
    return n > 0 and all(np.array_equal(getattr(short, c), getattr(long, c)[:n]) for c in columns)


@pytest.mark.parametrize("classes", ["one", "two"])
def test_fewer_jobs_are_the_first_of_more(classes: str) -> None:
    """How much is drawn, by jobs or by weeks, does not change what is drawn first."""
    long = lublin(64, jobs=20_000, seed=2, index=3, classes=classes)
    assert same_start(lublin(64, jobs=7, seed=2, index=3, classes=classes), long)
    assert same_start(lublin(64, jobs=9_000, seed=2, index=3, classes=classes), long)
    weeks = lublin(64, weeks=2, seed=2, index=3, classes=classes)
    assert same_start(weeks, long)
    assert weeks.submit[-1] < 2 * WEEK <= long.submit[len(weeks)]


def test_two_classes_are_both_programs_merged() -> None:
    """Jobs of both classes arrive on clocks of their own and stand in order of submission."""
    w = lublin(128, weeks=20, seed=1, classes="two")
    counts = []
    for kind in (BATCH, INTERACTIVE):
        blocks = _arrivals(kind, (w.name, 1, 0))
        submit = np.concatenate([next(blocks) for _ in range(8)])
        assert submit[-1] > 20 * WEEK
        counts.append(np.count_nonzero(submit < 20 * WEEK))
    assert len(w) == sum(counts)
    assert min(counts) > 0


def test_keys_give_other_workloads() -> None:
    """Seed, index and machine each change the draw; the same key repeats it."""
    keys = [(128, 1, 0), (128, 2, 0), (128, 1, 1), (256, 1, 0)]
    drawn = [lublin(p, jobs=50, seed=s, index=i) for p, s, i in keys]
    assert len({tuple(w.submit.tolist()) for w in drawn}) == 4
    assert lublin(128, jobs=50, seed=1).digest() == drawn[0].digest()


def test_model_is_a_known_one() -> None:
    """The first jobs of seed 1 on 128 processors, as literals."""
    w = lublin(128, jobs=4, seed=1)
    assert w.submit.tolist() == [857, 1121, 4758, 132654]
    assert w.procs.tolist() == [17, 8, 8, 64]
    assert w.run.tolist() == [17, 43, 16, 1]
    assert w.estimate.tolist() == [60, 180, 120, 60]
    assert w.user.tolist() == [3, 2, 14, 35]


@pytest.mark.parametrize("classes", ["one", "two"])
def test_machines_of_any_size(classes: str) -> None:
    """No job is wider than the machine, however small; a large one has room for all sizes."""
    for processors in (1, 2, 3, 5, 9, 10, 1000, 100_000):
        w = lublin(processors, jobs=2_000, classes=classes)
        assert (w.processors, len(w), w.name) == (processors, 2_000, f"lublin-{processors}")
        assert w.procs.min() == 1, processors
        assert w.procs.max() <= processors


def test_load_scales_the_run_times() -> None:
    """A load given is the offered load of the result; the submissions stay."""
    plain, scaled = lublin(128, jobs=3_000, seed=1), lublin(128, jobs=3_000, seed=1, load=0.8)
    assert offered_load(scaled) == pytest.approx(0.8, abs=1e-4)
    assert np.array_equal(plain.submit, scaled.submit)


def test_users_are_drawn_by_rank() -> None:
    """The k-th of m users submits in proportion to 1 / k."""
    w = lublin(128, jobs=N, users=10)
    total = sum(1 / k for k in range(1, 11))
    for user in range(1, 11):
        assert_share(w.user == user, 1 / user / total)
    assert np.unique(lublin(128, jobs=50, users=1).user).tolist() == [1]


def test_a_limit_kills_longer_jobs() -> None:
    """With a largest estimate, a longer job runs to it and is marked as killed."""
    free, held = lublin(64, jobs=5_000), lublin(64, jobs=5_000, max_estimate=3_600)
    assert held.max_estimate == held.estimate.max() == 3_600
    assert np.array_equal(held.run, np.minimum(free.run, 3_600))
    assert np.array_equal(held.killed, free.run > 3_600)
    assert held.killed.any()
    assert not free.killed.any()


@pytest.mark.parametrize("f", [0, 0.5, 5, 300])
def test_estimates_are_uniform_up_to_f_times_more(f: float) -> None:
    """Estimates lie in [run, (f + 1) run], rounded up to minutes, with mean (1 + f / 2) run."""
    run = np.full(N, 36_000)
    estimate = f_model(run, f=f)
    assert (estimate % GRAIN == 0).all()
    assert estimate.min() >= 36_000
    assert estimate.max() <= math.ceil(36_000 * (f + 1) / GRAIN) * GRAIN
    error = 36_000 * f / math.sqrt(12 * N)
    assert abs(estimate.mean() - 36_000 * (1 + f / 2)) <= 5 * error + GRAIN / 2 + 1


def test_estimates_are_at_least_a_minute_and_never_below_the_run() -> None:
    """Nobody asks for less than a minute, and no estimate is short of the run, however long."""
    run = np.array([0, 1, 59, 60, 61, 2**55 + 1])
    assert f_model(run, f=0).tolist() == [60, 60, 60, 60, 120, (2**55 + 1) // 60 * 60 + 60]
    assert (f_model(run, f=0.3, seed=4) >= run).all()


def test_estimates_depend_on_their_key() -> None:
    """Seed, index and name each change the estimates."""
    run = np.full(20, 10_000)
    keys = [(1, 1, "a"), (2, 1, "a"), (1, 2, "a"), (1, 1, "b")]
    drawn = {tuple(f_model(run, seed=s, index=i, name=n).tolist()) for s, i, n in keys}
    assert len(drawn) == 4


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"processors": 0}, "processors=0: give a whole number, at least 1"),
        ({"processors": 1.5}, "processors=1.5: give a whole number"),
        ({"jobs": 0}, "jobs=0: give a whole number, at least 1"),
        ({"jobs": None, "weeks": 0}, "weeks=0: give a whole number, at least 1"),
        ({"weeks": 2}, "jobs=10, weeks=2: a model needs exactly one of them"),
        ({"jobs": None}, "jobs=None, weeks=None: a model needs exactly one of them"),
        ({"users": 0}, "users=0: give a whole number, at least 1"),
        ({"classes": "three"}, "classes='three' is unknown; known: one, two"),
        ({"f": -1}, "f=-1: the f-model's factor is a finite number, at least 0"),
        ({"f": 1e300}, "f=1e+300: estimates would pass the clock's"),
        ({"f": True}, "f=True: the f-model's factor"),
        (
            {"jobs": 10**11},
            "jobs=100000000000: give a whole number, at least 1 and at most",
        ),
        ({"jobs": None, "weeks": 10**9}, "weeks=1000000000: give a whole number, at least 1 and"),
        ({"users": 10**12}, "users=1000000000000: give a whole number, at least 1 and at most"),
        ({"f": math.nan}, "f=nan: the f-model's factor"),
        ({"max_estimate": 59}, "max_estimate=59: give at least one minute, 60 s"),
        ({"load": 0}, "load=0: give a finite number above 0"),
        ({"seed": 0.5}, "seed=0.5: give a whole number"),
    ],
)
def test_bad_parameters_are_refused(change: dict[str, object], said: str) -> None:
    """Each is named with its value and what would be right."""
    arguments: dict[str, object] = {"processors": 64, "jobs": 10}
    with pytest.raises(InputError) as error:
        lublin(**(arguments | change))  # type: ignore[arg-type]
    assert said in str(error.value)
