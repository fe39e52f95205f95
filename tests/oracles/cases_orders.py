"""Hand-written cases on one pool of processors that fix the formulas of orders."""

from __future__ import annotations

from collections.abc import Iterator

from tests.oracles.case import Case, Rows, SiteJob

ORDERS, EXPRESSIONS = "Queue orders", "Orders as expressions"
PRIORITY, LIMITS = "Slurm's priority", "Slurm's limits"


def _slowdowns() -> Iterator[Case]:
    name = "an estimate of 0 counts as 1 s in an expansion factor"
    # Both factors are 1, in numerator and denominator.
    yield Case(name, "lxf+none", 1, [(0, 0, 0, 1), (0, 1, 1, 1)], [0, 0], ORDERS)
    yield Case(name, "sxf+none", 1, [(0, 1, 1, 1), (0, 0, 0, 1)], [0, 1], ORDERS)
    name = "the largest wfp3 goes first"
    # At 1: 1 x 2 and 1 x 1.
    rows = [(0, 1, 1, 1), (0, 0, 0, 2), (0, 1, 1, 1)]
    yield Case(name, "wfp3+none", 2, rows, [0, 1, 1], ORDERS)
    name = "wfp3 multiplies by the processors"
    # At 1: 1/27 x 5 and 1/8.
    rows = [(0, 1, 1, 1), (0, 1, 3, 5), (0, 0, 2, 1)]
    yield Case(name, "wfp3+none", 5, rows, [0, 1, 2], ORDERS)
    name = "wfp3 takes the cube of wait over estimate"
    # At 11: 216/343 x 5 = 3.1 and 27/8 = 3.4; of the squares the former is larger.
    rows = [(0, 11, 11, 5), (5, 1, 7, 5), (8, 0, 2, 1)]
    yield Case(name, "wfp3+none", 5, rows, [0, 11, 11], ORDERS)
    yield Case(name, "wfp3+none", 5, [*rows[:2], (8, 1, 2, 1)], [0, 12, 11], ORDERS)
    name = "the largest unicef goes first"
    # At 1: 1 / log2(2) and 1 / log2(6).
    rows = [(0, 1, 1, 6), (0, 0, 0, 2), (0, 1, 1, 6)]
    yield Case(name, "unicef+none", 7, rows, [0, 1, 1], ORDERS)
    name = "the log2 of a serial job counts as 2^-40 under unicef"
    # At 1 the serial job has 1 / 2^-1 and 1 / 2^1, the other 1 / (log2(2) x 1).
    rows = [(0, 1, 1, 2), (0, 1, 1, 2), (0, 5, 2**39, 1)]
    yield Case(name, "unicef+none", 2, rows, [0, 6, 1], ORDERS)
    rows = [(0, 1, 1, 2), (0, 5, 2**41, 1), (0, 1, 1, 2)]
    yield Case(name, "unicef+none", 2, rows, [0, 2, 1], ORDERS)


def _submissions() -> Iterator[Case]:
    """Yield cases of f1 to f4: log10(s) of jobs that are submitted at 1 and 10 s is 0 and 1."""
    for order, name, least, most in (
        # 1 x 869 and 1 x 871 against 870.
        ("f1", "f1 weighs log10(estimate) x procs against 870", (10, 869), (10, 871)),
        # 100 x 255 and 100 x 257 against 25600 + 1.
        ("f2", "f2 weighs sqrt(estimate) x procs against 25600", (10**4, 255), (10**4, 257)),
        # 68599 x 100 and 68601 x 100 against 6860000 + 1.
        ("f3", "f3 weighs estimate x procs against 6860000", (68599, 100), (68601, 100)),
        # 52999 x 10 and 53001 x 10 against 530000 + 1.
        ("f4", "f4 weighs estimate x sqrt(procs) against 530000", (52999, 100), (53001, 100)),
    ):
        for (estimate, procs), starts in ((least, [0, 11, 12]), (most, [0, 12, 11])):
            rows = [(0, 11, 11, procs), (1, 1, estimate, procs), (10, 1, 1, 1)]
            yield Case(name, f"{order}+none", procs, rows, starts, ORDERS)
    name = "the submission of f1 counts from instant 0, not from the first job's"
    # At 10: log10(2) x 2 + 870 x log10(9) = 830.8 and 870 x log10(10).
    rows = [(9, 0, 2, 2), (9, 1, 1, 1), (10, 1, 1, 1)]
    yield Case(name, "f1+none", 2, rows, [10, 9, 10], ORDERS)


def _thresholds() -> Iterator[Case]:
    name = "threshold=1x is the largest estimate of the workload, not that of the waiting job"
    # At 3 the first has waited 2 s of 3, and the last, of estimate 0, 1 s.
    rows = [(1, 1, 3, 2), (1, 2, 2, 2), (2, 0, 0, 2)]
    yield Case(name, "f3+none,threshold=1x", 3, rows, [3, 1, 4], ORDERS)
    name = "threshold=Nx counts the largest estimate of all jobs, also of those to come"
    # At 12 the third has waited 11 s and the last 10 s, of 8, 16 and 30 s.
    rows = [(0, 6, 6, 1), (0, 6, 6, 1), (1, 8, 8, 1), (2, 7, 7, 1)]
    yield Case(name, "spf+none,threshold=1x", 1, rows, [0, 6, 12, 20], ORDERS)
    yield Case(name, "spf+none,threshold=2x", 1, rows, [0, 6, 19, 12], ORDERS)
    later = [*rows, (50, 1, 30, 1)]
    yield Case(name, "spf+none,threshold=1x", 1, later, [0, 6, 19, 12, 50], ORDERS)
    name = "a job beyond the threshold precedes all others in the order of backfills, too"
    # At 5 the second and third have waited 5 s; the last has an expansion factor of 2, and they 6.
    rows = [(0, 5, 5, 2), (0, 0, 0, 4), (0, 0, 0, 3), (4, 2, 2, 1), (4, 1, 1, 2)]
    policy = "sqf+aggressive,threshold=2s,backfill=sxf"
    yield Case(name, policy, 4, rows, [0, 6, 5, 4, 5], ORDERS)


def _sums() -> Iterator[Case]:
    name = "instants of halving count from the first submission"
    # At 18 the unknown user has 8 / 2, halved at 13, and user 1 has 3; halved at 12 and 18, 2.
    rows = [(7, 4, 4, 2, -1), (7, 4, 4, 2, 2), (7, 3, 3, 1, 1), (7, 0, 0, 1, -1), (7, 1, 1, 2, 1)]
    policy = "fair-usage+none,halflife=6s"
    yield Case(name, policy, 2, rows, [7, 11, 15, 19, 18], ORDERS)
    name = "with a refresh, halvings after its last instant do not count yet"
    # At 7, after the halving at 5, the unknown user has 2 / 2 + 4, user 3 has 4 and user 1 has 3.
    # At 8, an instant of halving, these still count.
    rows = [(2, 1, 1, 2, -1), (2, 2, 2, 2, 3), (3, 3, 4, 1, 1), (3, 0, 0, 3, -1), (3, 1, 3, 1, 1)]
    rows += [(3, 1, 1, 3, 3), (3, 2, 2, 2, -1)]
    policy = "fair-usage+easy,refresh=5s,halflife=3s"
    yield Case(name, policy, 3, rows, [2, 3, 3, 9, 7, 8, 5], ORDERS)


def _expressions() -> Iterator[Case]:
    for name, text, procs, starts in (
        ("-x**2 is -(x**2)", "-estimate ** 2", 1, [0, 19, 10]),
        # 3 and 2; with the sign of the dividend -2 and 2.
        ("% has the sign of the divisor", "(estimate - 7) % 5", 1, [0, 19, 10]),
        ("A if C else B", "estimate if procs > 1 else 100", 2, [0, 19, 10]),
    ):
        rows = [(0, 10, 10, procs), (1, 5, 5, 1), (2, 9, 9, procs)]
        yield Case(name, f"({text})+none", procs, rows, starts, EXPRESSIONS)
    name = "** groups from the right and binds more than %"
    # 65 and 60 modulo 512; modulo 64, 1 and 60.
    rows = [(0, 10, 10, 1), (1, 5, 65, 1), (2, 9, 60, 1)]
    yield Case(name, "(estimate % 2 ** 3 ** 2)+none", 1, rows, [0, 19, 10], EXPRESSIONS)
    # As under fair-share, in "five jobs of three users".
    name = "waited and worked are sums over the completed jobs of the user"
    rows = [(0, 4, 4, 2, 7), (1, 2, 2, 2, 8), (2, 3, 3, 2, 7), (2, 3, 3, 2, 8), (2, 3, 3, 2, 9)]
    policy = "(-waited / max(worked, 1))+none"
    yield Case(name, policy, 2, rows, [0, 4, 9, 6, 12], EXPRESSIONS)


def _priorities() -> Iterator[Case]:
    """Slurm's priority."""

    def case(name: str, args: str, procs: int, starts: list[int], *jobs: tuple[int, ...]) -> Case:
        rows = [SiteJob(*job) for job in jobs]
        return Case(name, f"multifactor({args})+none", procs, rows, starts, PRIORITY)

    name = "a priority is cut to a whole number"
    # 1 and 1.5.
    rows: Rows = [(0, 10, 10, 4), (1, 5, 5, 2), (2, 5, 5, 3)]
    yield Case(name, "multifactor(size=2)+none", 4, rows, [0, 10, 15], PRIORITY)
    name = "the factors are added before the priority is cut"
    # At 3, of fair share, size and processors: 3.33 + 2.25 + 7.5, 6.67 + 1.5 + 5, 10 + 0.75 + 2.5.
    jobs = [(0, 3, 3, 3, 1), (0, 0, 0, 3, 1), (0, 1, 1, 2, -1), (0, 0, 0, 1, 1, -1)]
    yield case(name, "calc=3s, fairshare=10, size=3, cpu=10", 4, [0, 3, 3, 3], *jobs)
    name = "calculations are at multiples of calc after the first submission"
    # At 6 nothing has been charged yet: the last calculation was at 4.
    jobs = [(4, 2, 2, 1, 1, 8), (4, 0, 0, 4, 2, 8), (4, 1, 1, 1, 3, 9)]
    yield case(name, "calc=6s, fairshare=10, halflife=0s", 4, [4, 6, 6], *jobs)
    # 10 + 3/7 and 10 + 3.
    name = "users with equal values have the same rank in the fair tree"
    jobs = [(0, 0, 0, 1, 1), (0, 1, 1, 7, 2)]
    yield case(name, "fairshare=10, size=3", 7, [1, 0], *jobs)
    name = "users of accounts with equal values have the same rank in the fair tree"
    jobs = [(0, 0, 0, 1, 1, 7), (0, 1, 1, 7, 1, 8)]
    yield case(name, "fairshare=10, size=3", 7, [1, 0], *jobs)
    name = "favor_small gives a job (N - procs) / N"
    # 10 + 3/5 and 10 + 6/5.
    jobs = [(0, 0, 0, 4, 1), (0, 1, 1, 3, 3)]
    yield case(name, "fairshare=10, size=3, favor_small=yes", 5, [1, 0], *jobs)
    name = "an account below another has its part of the shares of that one"
    # At 15 accounts 8 and 9 have 3/4 and 1/4 of the shares, and 40 and 20 of usage.
    jobs = [(0, 10, 10, 4, 1, 7), (1, 5, 5, 4, 2, 9), (2, 5, 5, 4, 2, 9), (3, 5, 5, 4, 1, 7)]
    for algorithm in ("tree", "classic"):
        args = f"fairshare=100, calc=5s, halflife=0s, algorithm={algorithm}"
        args += ", accounts=(8=3, 7=8/1, 9=1)"
        yield case(name, args, 4, [0, 10, 20, 15], *jobs)
    name = "the usage of an account below counts for that above"
    # At 15 user 3 of account 8 has used nothing, but account 7 below it 40, and account 9 has 20.
    jobs[2] = (2, 5, 5, 4, 3, 8)
    jobs[3] = (3, 5, 5, 4, 2, 9)
    args = "fairshare=100, calc=5s, halflife=0s, accounts=(8=1, 7=8/1, 9=1)"
    yield case(name, args, 4, [0, 10, 20, 15], *jobs)
    name = "a limit of an account counts the jobs of the accounts below it"
    rows = [SiteJob(0, 9, 9, 1, 1, 7), SiteJob(1, 5, 5, 1, 2, 8), SiteJob(2, 5, 5, 1, 3, 9)]
    policy = "multifactor(accounts=(8=1, 7=8/1))+none,limits=(account.8.GrpJobs=1)"
    yield Case(name, policy, 4, rows, [0, 9, 2], LIMITS)


OF_ORDERS = tuple(
    case
    for part in (_slowdowns, _submissions, _thresholds, _sums, _expressions, _priorities)
    for case in part()
)
