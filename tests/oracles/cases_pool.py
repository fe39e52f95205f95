"""Hand-written cases on one pool of processors."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.oracles.case import Case, LeavingJob, Rows, SiteJob
from tests.support.strategies import MODULE

CLOCK, PER_EVENT = "The clock", "The clock of the pyss family"
ORDERS, RULES, SEARCHED = "Queue orders", "Backfilling", "Searched plans"
PREDICTED = "Predictions"

PRIORITY, LIMITS = "Slurm's priority", "Slurm's limits"
SCHEDULERS = "Slurm's schedulers"

LEAVING = "Jobs cancelled while waiting"

ANY_RULE = ("none", "aggressive", "easy", "depth(1)", "depth(2)", "depth(3)", "conservative")

NO = -1
"""No promise."""

# One runs on 3 of 4, the next needs all 4, then a short and a long one that fit beside.
BLOCKED = [(0, 10, 10, 3), (1, 10, 10, 4), (2, 5, 5, 1), (3, 20, 20, 1)]

# On 4 processors the second job waits until 10; the fourth would end by then.
HELD = [(0, 10, 10, 3), (1, 5, 5, 4), (2, 9, 9, 1), (3, 7, 7, 1), (4, 2, 2, 1)]

# The fourth job fits beside the second, but not beside the third, which could start at 15.
DEEP = [(0, 10, 10, 3), (1, 5, 5, 3), (2, 3, 3, 4), (3, 13, 13, 1)]

# The first job holds the machine until 10; the others are then started in queue order.
ORDERED = [(0, 10, 10, 4), (1, 6, 6, 3), (2, 4, 4, 4), (3, 8, 8, 2), (4, 6, 6, 2)]

# At 10 the third job comes and the first ends, as estimated or not.
MET = [(0, 10, 10, 3), (1, 5, 5, 4), (10, 3, 3, 1)]
MET_EARLY = [(0, 10, 12, 3), *MET[1:]]

# At 4 the third job starts before the second; at 9 both end.
BY_START = [(0, 4, 4, 4), (1, 5, 9, 1), (1, 5, 8, 3), (2, 3, 21, 2), (2, 3, 20, 4)]

# The second job has waited 9 s when the first ends.
LONG_WAIT = [(0, 10, 10, 2), (1, 50, 50, 2), (2, 5, 5, 2)]

# At 4 two jobs end early; the fourth's reservation at 5 stands before the second's at 6.
PLAN = [(0, 4, 6, 1), (0, 3, 4, 2), (1, 3, 4, 1), (3, 1, 1, 1)]

# Job 1: [1, 6) 3, but over at 4. Job 2: [6, 9) 2. Job 3: [9, 11) 4. Job 4: [6, 8) 2.
FOUR = [(1, 3, 5, 3), (2, 3, 3, 2), (3, 2, 2, 4), (3, 2, 2, 2)]

# The same, but job 4 arrives when job 1 ends.
FOUR_TIED = [*FOUR[:3], (4, 2, 2, 2)]

# Job 1: [0, 10) 2, but over at 4. Job 2, long: [10, 15) 2. Job 3, short: [15, 17) 2.
SHORT_BEHIND_LONG = [(0, 4, 10, 2), (1, 5, 5, 2), (2, 2, 2, 2)]

# Job 1: [0, 5) 2. Job 2, of estimate 0, finds 5. Job 3: [5, 8) 2, over it.
ZERO = [(0, 5, 5, 2), (1, 0, 0, 2), (2, 3, 3, 2)]

# On one processor the short job is better before the second long one, which is the first in the
# plan, as first come, first served; a search at 5 is the last at which both wait.
SWAP = [(0, 9, 9, 1), (1, 10, 10, 1), (2, 1, 1, 1)]


def _rules() -> Iterator[Case]:
    for rule, blocked, deep in (
        ("none", [0, 10, 15, 15, 15], [0, 10, 15, 18]),
        ("aggressive", [0, 17, 2, 10, 10], [0, 10, 16, 3]),
        ("easy", [0, 10, 15, 3, 15], [0, 10, 16, 3]),
        ("depth(1)", [0, 10, 15, 3, 15], [0, 10, 16, 3]),
        ("depth(2)", [0, 10, 15, 3, 15], [0, 10, 15, 18]),
        ("conservative", [0, 10, 15, 3, 15], [0, 10, 15, 18]),
        ("planned", [0, 10, 15, 3, 15], [0, 10, 15, 18]),
    ):
        name, passed = "a rule decides what passes a blocked job", None
        if rule == "conservative":
            passed = [3]
        yield Case(name, f"fcfs+{rule}", 4, HELD, blocked, RULES, passed)
        yield Case("reservations of later jobs are kept", f"fcfs+{rule}", 4, DEEP, deep, RULES)
    for policy, starts, backfilled in (
        ("fcfs+none", [0, 10, 20, 20], []),
        ("fcfs+aggressive", [0, 27, 2, 7], [2, 3]),
        ("fcfs+easy", [0, 10, 2, 20], [2]),
        ("spf+easy", [0, 10, 2, 20], []),
        ("sqf+easy", [0, 27, 2, 7], []),
    ):
        none = [NO] * 4
        name = "a job is backfilled where one before it stays"
        yield Case(name, policy, 4, BLOCKED, starts, RULES, backfilled, none)
    for rule in ("conservative", "planned"):
        yield Case(
            "rules with reservations for all backfill too", f"fcfs+{rule}", 4, BLOCKED,
            [0, 10, 2, 20], RULES, [2],
        )  # fmt: skip
    name = "depth(2) reserves for the two shortest"
    yield Case(name, "spf+depth(2)", 4, BLOCKED, [0, 10, 2, 20], RULES)
    kept = [(0, 4, 10, 3), (1, 5, 5, 4), (2, 9, 9, 1)]
    for rule, promises in (
        ("conservative", [0, 10, 15]),
        ("depth(1)", [0, 10, NO]),
        ("easy", [NO] * 3),
    ):
        name = "a promise is the first reservation"
        yield Case(name, f"fcfs+{rule}", 4, kept, [0, 4, 9], RULES, promises=promises)


def _orders() -> Iterator[Case]:
    for order, starts in (
        ("fcfs", [0, 10, 16, 20, 20]),
        ("lcfs", [0, 22, 18, 10, 10]),
        ("spf", [0, 14, 10, 20, 20]),
        ("lpf", [0, 18, 30, 10, 24]),
        ("sqf", [0, 18, 24, 10, 10]),
        ("lqf", [0, 14, 10, 20, 20]),
        ("saf", [0, 28, 16, 20, 10]),
        ("laf", [0, 10, 16, 20, 20]),
        ("lxf", [0, 14, 10, 20, 20]),
        ("sxf", [0, 18, 24, 10, 10]),
    ):
        yield Case("jobs start in queue order", f"{order}+none", 4, ORDERED, starts, ORDERS)
    for rule in ("none", "easy", "depth(2)", "conservative"):
        for order in ("fcfs", "lcfs", "spf", "lpf", "sqf", "lqf", "saf", "laf", "lxf", "sxf",
                      "wfp3", "unicef", "f1", "f2", "f3", "f4",
                      "fair-share", "fair-usage"):  # fmt: skip
            name = "equal jobs go by position"
            yield Case(name, f"{order}+{rule}", 1, [(0, 3, 3, 1)] * 4, [0, 3, 6, 9], ORDERS)
    for base in (1, 2**20, 2**34):
        big = 2**20 * base + 1
        end = 4 * big
        rows = [(0, end, end, 1), (1, 5, 3 * big, 1), (2, 5, 3 * big - 2, 1)]
        name = "expansion factors are compared exactly"
        yield Case(name, "lxf+none", 1, rows, [0, end + 5, end], ORDERS)
        yield Case(name, "sxf+none", 1, rows, [0, end, end + 5], ORDERS)
    name = "an expansion factor is evaluated at each pass"
    early = [(0, 5, 5, 1), (0, 20, 20, 1), (4, 10, 10, 1)]
    late = [(0, 50, 50, 1), (0, 60, 60, 1), (4, 10, 10, 1)]
    yield Case(name, "lxf+none", 1, early, [0, 5, 25], ORDERS)
    yield Case(name, "lxf+none", 1, late, [0, 60, 50], ORDERS)
    name = "a later arrival may become the head"
    rows = [(0, 10, 10, 3), (1, 9, 9, 4), (2, 12, 12, 1), (3, 5, 5, 2)]
    yield Case(name, "spf+easy", 4, rows[:3], [0, 10, 19], ORDERS)
    yield Case(name, "spf+easy", 4, rows, [0, 15, 3, 10], ORDERS)
    wide = [(0, 10, 10, 4), (1, 5, 5, 4), (2, 3, 3, 4)]
    name = "the shorter of two jobs goes first under spf"
    yield Case(name, "spf+aggressive", 4, wide, [0, 13, 10], ORDERS)
    name = "a job inserted in the middle lets a later one start"
    rows = [(0, 4, 4, 2), (1, 8, 8, 3), (1, 9, 9, 1), (2, 3, 3, 4)]
    # At 2 the wide job is reserved at 4 to 7, before the second at 7 to 15, and the third,
    # which has run since 1, holds one processor until 10: so 10, then 13.
    yield Case(name, "spf+conservative", 4, rows, [0, 13, 1, 10], RULES)


def _starving() -> Iterator[Case]:
    name = "the threshold is strict"
    for policy, starts in (
        ("spf+easy", [0, 15, 10]),
        ("spf+easy,threshold=9s", [0, 15, 10]),
        ("spf+easy,threshold=8s", [0, 10, 60]),
        ("lxf+easy,threshold=8s", [0, 10, 60]),
    ):
        yield Case(name, policy, 2, LONG_WAIT, starts, ORDERS)
    rows = [(0, 10, 10, 1), (1, 5, 5, 1), (2, 3, 3, 1)]
    yield Case(name, "spf+easy,threshold=9s", 1, rows, [0, 13, 10], ORDERS)
    yield Case(name, "spf+easy,threshold=8s", 1, rows, [0, 10, 15], ORDERS)
    name = "starving jobs are first come, first served, and one is the head"
    rows = [(0, 10, 10, 2), (1, 50, 50, 2), (2, 40, 40, 2), (3, 5, 5, 1)]
    yield Case(name, "spf+easy,threshold=3s", 2, rows, [0, 10, 60, 100], ORDERS)
    name = "crossing the threshold is no event"
    rows = [(0, 10, 10, 1), (0, 20, 20, 2), (3, 100, 100, 1)]
    yield Case(name, "spf+aggressive,threshold=3s", 2, rows, [0, 103, 3], ORDERS)
    name = "a threshold beyond the clock never bites"
    policy = "spf+easy,threshold=99999999999999999999w"
    yield Case(name, policy, 2, BLOCKED[2:], [2, 3], ORDERS)


def _easy() -> Iterator[Case]:
    head = [(0, 10, 10, 3), (1, 10, 10, 4)]
    name = "a backfill may end at the shadow time, and no later"
    yield Case(name, "fcfs+easy", 4, [*head, (2, 8, 8, 1)], [0, 10, 2], RULES)
    yield Case(name, "fcfs+easy", 4, [*head, (2, 9, 9, 1)], [0, 10, 20], RULES)
    name = "the shadow counts every tie"
    rows = [(0, 10, 10, 2), (0, 10, 10, 2), (1, 10, 10, 3), (2, 50, 50, 1)]
    yield Case(name, "fcfs+easy", 5, rows, [0, 0, 10, 2], RULES)
    rows = [(0, 10, 10, 1), (0, 10, 10, 2), (1, 9, 9, 3), (2, 50, 50, 1)]
    yield Case(name, "fcfs+easy", 4, rows, [0, 0, 10, 2], RULES)
    rows = [(0, 10, 10, 1), (0, 10, 10, 2), (1, 5, 5, 2), (2, 20, 20, 1)]
    yield Case(name, "fcfs+easy", 4, rows, [0, 0, 10, 2], RULES)
    name = "a short backfill takes nothing from extra"
    rows = [(0, 10, 10, 3), (1, 10, 10, 4), (2, 4, 4, 1), (2, 50, 50, 1)]
    yield Case(name, "fcfs+easy", 5, rows, [0, 10, 2, 2], RULES)
    rows = [(0, 10, 10, 2), (1, 5, 5, 3), (2, 8, 8, 1), (2, 20, 20, 1)]
    yield Case(name, "fcfs+easy", 4, rows, [0, 10, 2, 2], RULES)
    rows = [(0, 10, 10, 2), (1, 10, 10, 4), (2, 50, 50, 1), (3, 50, 50, 1)]
    name = "a long backfill leaves no extra to a later pass"
    yield Case(name, "fcfs+easy", 5, rows, [0, 10, 2, 20], RULES)
    name = "a long backfill uses extra up in its pass"
    rows = [*rows[:3], (2, 40, 40, 1)]
    yield Case(name, "fcfs+easy", 5, rows, [0, 10, 2, 20], RULES)
    yield Case(name, "fcfs+easy,backfill=spf", 5, rows, [0, 10, 20, 2], RULES)
    name = "a backfill on the extra processors may last"
    rows = [(0, 10, 10, 3), (1, 5, 5, 3), (2, 9, 9, 1)]
    yield Case(name, "fcfs+easy", 4, rows, [0, 10, 2], RULES)
    name = "an early completion brings the head forward"
    yield Case(name, "fcfs+easy", 4, [(0, 3, 100, 4), (1, 5, 5, 4)], [0, 3], CLOCK)
    name = "the backfill order decides between two"
    rows = [(0, 10, 10, 3), (1, 10, 10, 4), (2, 7, 7, 1), (2, 3, 3, 1)]
    yield Case(name, "fcfs+easy", 4, rows, [0, 10, 2, 20], RULES)
    yield Case(name, "fcfs+easy,backfill=spf", 4, rows, [0, 10, 20, 2], RULES, [3])
    rows = [(0, 10, 10, 3), (1, 5, 5, 4), (2, 6, 6, 2), (2, 4, 4, 1), (2, 3, 3, 1)]
    yield Case(name, "fcfs+easy", 4, rows, [0, 10, 15, 2, 6], RULES)
    yield Case(name, "fcfs+easy,backfill=spf", 4, rows, [0, 10, 15, 5, 2], RULES)
    name = "under aggressive the backfill order ranks the jobs behind the first that does not fit"
    rows = [(0, 12, 12, 2), (0, 0, 0, 3), (11, 1, 1, 2), (11, 0, 0, 1)]
    yield Case(name, "fcfs+aggressive,backfill=spf", 4, rows, [0, 12, 11, 11], RULES)


def _depth() -> Iterator[Case]:
    name = "under depth(K) the backfill order ranks the jobs behind the K"
    # At 2 the second and third are reserved at 10 and 15; one of the others ends by 10.
    rows = [(0, 10, 10, 3), (1, 5, 5, 4), (1, 5, 5, 4), (2, 8, 8, 1), (2, 3, 3, 1)]
    yield Case(name, "fcfs+depth(2)", 4, rows, [0, 10, 15, 2, 20], RULES)
    yield Case(name, "fcfs+depth(2),backfill=spf", 4, rows, [0, 10, 15, 20, 2], RULES)
    # At 0 the last, of area 3, is reserved at 1, and the first two processors are equal.
    rows = [(0, 1, 1, 1), (0, 1, 1, 6), (0, 0, 2, 1), (0, 0, 1, 3)]
    yield Case(name, "laf+depth(1),backfill=sqf", 7, rows, [0, 0, 1, 1], RULES)
    name = "a job that starts is not one of the K"
    # At 3 the second starts, and the third is reserved at 7, before which the last does not end.
    rows = [(0, 3, 3, 5), (1, 4, 4, 4), (2, 9, 9, 7), (3, 20, 20, 2)]
    yield Case(name, "fcfs+depth(1)", 8, rows, [0, 3, 7, 16], RULES)
    name = "a job of estimate 0 behind the K waits while its processors are in use"
    rows = [(0, 3, 3, 2), (1, 4, 4, 3), (2, 0, 0, 2)]
    yield Case(name, "fcfs+depth(1)", 3, rows, [0, 3, 7], RULES)


def _clock() -> Iterator[Case]:
    name = "a job of run 0 completes in its instant, and another pass follows"
    yield Case(name, "fcfs+none", 2, [(5, 0, 3, 2), (5, 4, 4, 2)], [5, 5], CLOCK)
    rows = [(0, 0, 10, 4), (0, 0, 0, 4), (0, 5, 5, 4), (0, 5, 5, 1)]
    yield Case(name, "fcfs+none", 4, rows, [0, 0, 0, 5], CLOCK)
    name = "completions come before arrivals; per event, after them"
    rows = [(0, 5, 5, 2), (1, 9, 9, 2), (5, 3, 3, 2)]
    yield Case(name, "spf+none", 2, rows, [0, 8, 5], CLOCK)
    yield Case(name, "spf+none,events=per-event", 2, rows, [0, 8, 5], PER_EVENT)
    name = "a pass follows all arrivals of an instant; per event, each"
    burst = [(0, 9, 9, 2), (0, 3, 3, 2)]
    yield Case(name, "spf+none", 2, burst, [3, 0], CLOCK)
    yield Case(name, "spf+none,events=per-event", 2, burst, [0, 9], PER_EVENT)
    name = "per event a pass follows the first of two early completions"
    rows = [(0, 5, 6, 1), (0, 5, 6, 1), (1, 9, 9, 2), (2, 9, 9, 1)]
    yield Case(name, "fcfs+aggressive", 2, rows, [0, 0, 5, 14], CLOCK)
    yield Case(name, "fcfs+aggressive,events=per-event", 2, rows, [0, 0, 14, 5], PER_EVENT)
    name = "per event a job that is predicted to end has gone"
    rows = [(0, 5, 5, 1), (0, 5, 5, 1), (1, 9, 9, 2), (2, 9, 9, 1)]
    yield Case(name, "fcfs+aggressive,events=per-event", 2, rows, [0, 0, 5, 14], PER_EVENT)
    for rule in ("aggressive", "easy,backfill=lxf", "depth(2)", "conservative"):
        yield Case(name, f"fcfs+{rule},events=per-event", 4, MET, [0, 10, 15], PER_EVENT)
    name = "per event a submission comes before an early end"
    yield Case(name, "fcfs+aggressive", 4, MET_EARLY, [0, 10, 15], CLOCK)
    yield Case(name, "fcfs+aggressive,events=per-event", 4, MET_EARLY, [0, 13, 10], PER_EVENT)
    name = "per event completions of an instant go by start"
    for rule in ("aggressive", "aggressive,threshold=9d", "aggressive,backfill=saf"):
        yield Case(name, f"spf+{rule}", 4, BY_START, [0, 4, 4, 12, 9], CLOCK)
        policy = f"spf+{rule},events=per-event"
        yield Case(name, policy, 4, BY_START, [0, 4, 4, 9, 12], PER_EVENT)
    name = "per event a job of estimate 0 takes nothing"
    policy = "fcfs+easy,events=per-event"
    yield Case(name, policy, 1, [(0, 0, 0, 1)] * 40, [0] * 40, PER_EVENT)
    for rule in ("none", "easy", "conservative"):
        rows = [(0, 0, 0, 2), (0, 5, 5, 2), (0, 3, 3, 2)]
        yield Case(name, f"spf+{rule},events=per-event", 2, rows, [0, 0, 5], PER_EVENT)


def _estimate_0() -> Iterator[Case]:
    rows = [(0, 10, 10, 1), (1, 0, 0, 2), (2, 20, 20, 1)]
    name = "a head of estimate 0 is not delayed"
    for rule in ("easy", "depth(1)"):
        yield Case(name, f"fcfs+{rule}", 2, rows, [0, 10, 10], RULES)
    name = "a job of estimate 0 reserves nothing"
    yield Case(name, "fcfs+conservative", 2, rows, [0, 22, 2], RULES)
    rows = [(0, 3, 3, 2), (1, 0, 0, 3), (1, 7, 7, 1)]
    yield Case(name, "fcfs+conservative", 3, rows, [0, 8, 1], RULES, [2], [0, 3, 1])
    rows = [(0, 5, 5, 1), (3, 0, 0, 3), (3, 5, 5, 2)]
    for walk in ("start", "arrival", "queue"):
        policy = f"fcfs+planned,walk={walk}"
        yield Case(name, policy, 3, rows, [0, 8, 3], RULES, promises=[0, 5, 3])
    for events in ("instant", "per-event"):
        policy = f"fcfs+planned,events={events}"
        yield Case(name, policy, 2, ZERO, [0, 5, 5], RULES, promises=[0, 5, 5])
    name = "a reservation of estimate 0 holds its second against those behind the K alone"
    rows = [(0, 10, 10, 1), (0, 0, 0, 8), (2, 10, 10, 1)]
    for rule, starts in (
        ("easy", [0, 10, 10]),
        ("depth(1)", [0, 10, 10]),
        ("depth(2)", [0, 12, 2]),
        ("conservative", [0, 12, 2]),
    ):
        yield Case(name, f"fcfs+{rule}", 8, rows, starts, RULES)
    # The third job leaves a processor to the last one, which the second of the second job needs.
    rows = [(0, 10, 10, 2), (0, 0, 0, 8), (1, 20, 20, 7), (2, 10, 10, 1)]
    yield Case(name, "fcfs+depth(2)", 8, rows, [0, 10, 10, 10], RULES)
    yield Case(name, "fcfs+depth(3)", 8, rows, [0, 30, 10, 2], RULES)
    name = "a job of estimate 0 behind the K starts when its processors are free"
    rows = [(0, 10, 10, 1), (1, 10, 10, 2), (2, 0, 0, 1), (2, 5, 9, 1)]
    for rule in ("easy", "depth(1)", "depth(2)", "conservative"):
        yield Case(name, f"fcfs+{rule}", 2, rows, [0, 10, 2, 20], RULES)
    name = "a job of estimate 0 behind another finds its processors taken"
    yield Case(name, "lpf+planned,walk=queue", 2, ZERO, [0, 8, 5], RULES)
    name = "a reservation of estimate 0 is not moved later"
    rows = [(0, 5, 5, 2), (0, 4, 9, 1), (1, 0, 0, 2), (2, 3, 3, 2)]
    yield Case(name, "fcfs+planned", 3, rows, [0, 0, 5, 5], RULES)
    name = "a due job of estimate 0 starts in the first pass that finds its processors"
    rows = [(0, 5, 5, 2), (1, 0, 0, 2), (2, 3, 3, 1), (3, 3, 3, 2)]
    yield Case(name, "sqf+planned,walk=queue", 2, rows, [0, 8, 5, 8], RULES)


def _planned() -> Iterator[Case]:
    name = "a plan is compressed by start or by arrival"
    yield Case(name, "fcfs+planned", 2, PLAN, [0, 5, 1, 4], RULES, promises=[0, 6, 1, 5])
    yield Case(name, "fcfs+planned,walk=arrival", 2, PLAN, [0, 6, 1, 4], RULES)
    rows = [(0, 1, 5, 3), (0, 4, 4, 3), (0, 4, 4, 1), (0, 4, 4, 1)]
    promises = [0, 5, 0, 4]
    yield Case(name, "fcfs+planned", 4, rows, [0, 4, 0, 1], RULES, promises=promises)
    policy = "fcfs+planned,walk=arrival"
    yield Case(name, policy, 4, rows, [0, 1, 0, 4], RULES, promises=promises)
    yield Case(name, "fcfs+planned", 4, FOUR, [1, 4, 7, 4], RULES)
    name = "a reservation where nothing ends or arrives is an event"
    alone = [(0, 0, 2, 3), (0, 1, 1, 2), (0, 4, 4, 3), (0, 1, 1, 2)]
    yield Case(name, policy, 4, alone, [0, 0, 3, 0], CLOCK)
    # At 1 the third goes to 1, the fourth to 6, before the second, and only then the second to 2.
    alone = [(0, 1, 3, 1), (0, 3, 3, 1), (0, 1, 1, 1), (0, 2, 2, 1)]
    yield Case(name, "spf+planned,walk=queue", 1, alone, [0, 2, 1, 6], CLOCK)
    # At 4 job 2 goes to [4, 7); job 3 finds job 4 still at [6, 8) and goes to [8, 10); job 4
    # goes to [4, 6). At 6 and 7 they end as estimated, which compresses nothing.
    promises = [1, 6, 9, 6]
    yield Case(name, policy, 4, FOUR, [1, 4, 8, 4], RULES, [3], promises)
    queued = "fcfs+planned,walk=queue"
    yield Case(name, queued, 4, FOUR, [1, 4, 8, 4], RULES, promises=promises)
    name = "at an instant a compression comes before arrivals"
    # At 4 job 1 ends: job 2 to [4, 7), job 3 to [7, 9). Then job 4 finds [4, 6).
    promises = [1, 6, 9, 4]
    yield Case(name, policy, 4, FOUR_TIED, [1, 4, 7, 4], RULES, promises=promises)
    name = "per event a plan is compressed at every completion"
    # At 4 job 4 comes first: [6, 8). Then job 1 ends, and job 3 goes to 8. At 6 job 4 ends at its
    # estimate: now job 3 finds 7, where job 2 is predicted to end.
    policy += ",events=per-event"
    yield Case(name, policy, 4, FOUR_TIED, [1, 4, 7, 4], PER_EVENT, promises=[1, 6, 9, 6])
    plain, per_event = "fcfs+planned", "fcfs+planned,events=per-event"
    name = "per event a submission is planned before an end of its instant"
    early = [(0, 5, 9, 1), (5, 2, 2, 1)]
    yield Case(name, per_event, 1, early, [0, 5], PER_EVENT, promises=[0, 9])
    yield Case(name, plain, 1, early, [0, 5], CLOCK, promises=[0, 5])
    exact = [(0, 5, 5, 1), (5, 2, 2, 1)]
    yield Case(name, per_event, 1, exact, [0, 5], PER_EVENT, promises=[0, 5])
    name = "per event each completion has a pass of its own"
    # Both ended: job 3 to 5, job 4 behind it. One by one: job 4 starts beside job 2, job 3 at 7.
    rows = [(0, 5, 10, 1), (0, 5, 10, 1), (1, 2, 2, 2), (2, 2, 2, 1)]
    yield Case(name, plain, 2, rows, [0, 0, 5, 7], CLOCK)
    yield Case(name, per_event, 2, rows, [0, 0, 7, 5], PER_EVENT)
    name = "per event completions of a plan go by start"
    # Job 3 started first and ends first: 1 processor serves neither job 4 nor job 5.
    rows = [(0, 2, 2, 2), (0, 4, 10, 2), (0, 6, 12, 1), (1, 1, 1, 3), (1, 4, 4, 2)]
    yield Case(name, per_event, 3, rows, [0, 2, 0, 6, 7], PER_EVENT, [2])
    # At 25 the second job ends: 3 are free until 30. The third stays at 30 and the fourth at 40;
    # the last goes from 69 to 30, beside the third.
    name = "a compression may let a job overtake"
    rows = [(0, 30, 30, 5), (0, 25, 40, 2), (1, 10, 10, 4), (2, 29, 29, 7), (3, 6, 6, 4)]
    for policy in (plain, queued, "fcfs+tabu,iterations=0"):
        promises = [0, 0, 30, 40, 69]
        yield Case(name, policy, 8, rows, [0, 0, 30, 40, 30], RULES, promises=promises)
    name = "due jobs start in queue order, not in that of their reservations"
    # At 2 the last, due since then, goes before the second, due since 1.
    rows = [(0, 1, 1, 1), (0, 0, 0, 1), (1, 1, 1, 1), (1, 1, 1, 1)]
    yield Case(name, "lcfs+planned,walk=queue", 1, rows, [0, 3, 1, 2], RULES)
    name = "a compression by start takes equal starts by position"
    # The second, of estimate 0, finds 0 before the third does; else it would stay at 1.
    rows = [(0, 0, 1, 4), (0, 0, 0, 4), (0, 1, 1, 2)]
    yield Case(name, plain, 5, rows, [0, 0, 0], RULES)
    name = "the queue order decides which reservation is moved first"
    yield Case(name, queued, 2, SHORT_BEHIND_LONG, [0, 4, 9], RULES)
    shortest = "spf+planned,walk=queue"
    promises = [0, 10, 15]
    yield Case(name, shortest, 2, SHORT_BEHIND_LONG, [0, 6, 4], RULES, promises=promises)
    rows = [(0, 5, 10, 2), (1, 4, 4, 2), (2, 3, 3, 2)]
    yield Case(name, queued, 2, rows, [0, 5, 9], RULES)
    yield Case(name, shortest, 2, rows, [0, 8, 5], RULES)
    name = "a job that has waited beyond the threshold is moved first"
    # At 4 job 2 has waited 3 s and job 3 has waited 2 s.
    yield Case(name, f"{shortest},threshold=2s", 2, SHORT_BEHIND_LONG, [0, 4, 9], RULES)
    yield Case(name, f"{shortest},threshold=3s", 2, SHORT_BEHIND_LONG, [0, 6, 4], RULES)
    name = "a job of run 0 ends early in the instant of its start"
    rows = [(0, 0, 5, 1), (0, 3, 3, 1)]
    for one in (plain, per_event):
        yield Case(name, one, 1, rows, [0, 0], CLOCK, promises=[0, 5])


def _tabu() -> Iterator[Case]:
    one = "fcfs+tabu,every=5s,iterations=1"
    name = "a move that betters all criteria is made"
    yield Case(name, one, 1, SWAP, [0, 10, 9], SEARCHED)
    yield Case(name, "fcfs+tabu,every=5s,iterations=0", 1, SWAP, [0, 9, 19], SEARCHED)
    name = "a search comes after the arrivals of its instant, and promises before it"
    rows = [(0, 10, 10, 1), (1, 10, 10, 1), (5, 1, 1, 1)]
    yield Case(name, one, 1, rows, [0, 11, 10], SEARCHED, promises=[0, 10, 20])
    name = "a tick is an event"
    rows = [(0, 10, 10, 1), (1, 10, 10, 2), (2, 12, 12, 1)]
    yield Case(name, one, 2, rows, [0, 17, 5], SEARCHED)
    name = "ticks count from the first submission, which has none"
    policy = "fcfs+tabu,every=1s,search=gap,iterations=2"
    yield Case(name, policy, 1, [(3, 3, 3, 1), (3, 1, 1, 1)], [3, 6], SEARCHED)
    rows = [(0, 8, 8, 1), (1, 10, 10, 1), (6, 1, 1, 1)]
    yield Case(name, one, 1, rows, [0, 8, 18], SEARCHED)
    yield Case(name, one, 1, [(1, 8, 8, 1), *rows[1:]], [1, 10, 9], SEARCHED)
    # Gap search begins at the end: the last job finds no gap, the second move is of the long one.
    # Random search draws the place too: the first of two places, then the second.
    for search in ("gap", "random"):
        name = f"{search} search needs a second move"
        policy = f"fcfs+tabu,every=5s,search={search},iterations="
        yield Case(name, f"{policy}1", 1, SWAP, [0, 9, 19], SEARCHED)
        yield Case(name, f"{policy}2", 1, SWAP, [0, 10, 9], SEARCHED)
    name = "fairness is the sum of (mean - NUWT)^2, not raised by 1"
    # At 6 the second job is drawn and moved from 6 to 9, and the third from 9 to 8. Slowdowns stay
    # 17, waits and responses lose 2 of 21 and of 27, and F falls from 2.17 to 1.50.
    rows = [(0, 6, 6, 4, 1), (0, 0, 3, 3, 1), (0, 0, 1, 4, -1), (0, 1, 2, 3, 3)]
    policy = "fcfs+tabu,every=6s,iterations=1,seed=2"
    yield Case(name, policy, 6, rows, [0, 7, 7, 6], SEARCHED)
    yield Case(name, f"{policy},fairness=raised", 6, rows, [0, 6, 7, 6], SEARCHED)
    name = "a plan that is as good as the best is discarded"
    # At 9 the fourth waits from 9 to 15 and the last from 15 to 21. Moved, the last waits 2 s and
    # not 8, and the fourth 15 s and not 9, both with the estimate 6: all sums are the same.
    rows = [(0, 6, 6, 2, -1), (0, 3, 3, 1, 2), (0, 0, 0, 2, -1), (0, 0, 6, 2, 1), (7, 1, 6, 1, 1)]
    policy = "fcfs+tabu,every=3s,iterations=3,search=gap,jobs=all,users=plan"
    yield Case(name, policy, 2, rows, [0, 6, 9, 9, 9], SEARCHED)
    name = "fairness counts running jobs; with users=plan only waiting ones"
    # At 6 the third may go before the second, to wait 1 s and not 5, and the second 9 s and not 7.
    # With the 7 of the first, of the third's user, they have 1/10 and 9/9, not 5/10 and 7/9.
    rows = [(0, 7, 7, 1, -1), (0, 0, 3, 3, 3), (5, 0, 3, 1, -1)]
    policy = "fcfs+tabu,every=3s,iterations=1x,search=gap,weights=0:0:0:1"
    yield Case(name, policy, 3, rows, [0, 7, 7], SEARCHED)
    yield Case(name, f"{policy},users=plan", 3, rows, [0, 7, 6], SEARCHED)
    name = "the other criteria count waiting jobs; with jobs=all running and completed ones, too"
    # At 5 slowdowns fall from 5 to 4.17, waits from 7 to 6, responses from 12 to 11, and F rises
    # from 0.5 to 0.68: gains of 0.03 in all. With the first job's 1, 0 and 5 s it is -0.02.
    rows = [(0, 5, 5, 1, 1), (2, 3, 3, 1, 2), (4, 2, 2, 1, 3)]
    policy = "fcfs+tabu,every=5s,iterations=2,search=gap,users=plan"
    yield Case(name, policy, 1, rows, [0, 7, 5], SEARCHED)
    yield Case(name, f"{policy},jobs=all", 1, rows, [0, 5, 8], SEARCHED)


def _shares() -> Iterator[Case]:  # noqa: C901
    """Yield cases of orders by what users had, most of them under every rule."""

    def each(name: str, policy: str, rows: Rows, starts: list[int]) -> Iterator[Case]:
        for rule in ANY_RULE:
            yield Case(name, policy.replace("RULE", rule), 1, rows, starts, ORDERS)

    # At 6 user 2 has waited 4 s for 2 s of work; the other, known or not, has nothing.
    name = "a user without a completed job has 0, which is last"
    for other in (3, -1):
        rows = [(0, 4, 4, 1, 1), (0, 2, 2, 1, 2), (1, 1, 1, 1, 2), (2, 1, 1, 1, other)]
        for clock in ("", ",events=per-event"):
            yield from each(name, f"fair-share+RULE{clock}", rows, [0, 4, 6, 7])
            yield from each(name, f"fair-usage+RULE{clock}", rows, [0, 4, 7, 6])
    # At 6 the unknown user has had 4 + 2 s of work, user 3 has had nothing.
    name = "jobs of the unknown user are of one user"
    rows = [(0, 4, 4, 1, -1), (0, 2, 2, 1, -1), (1, 1, 1, 1, -1), (5, 1, 1, 1, 3)]
    yield from each(name, "fair-usage+RULE", rows, [0, 4, 7, 6])
    # At 5 user 2's job of run 0 has waited 4 s for no work, 4 / 1; user 1 has 0 / 5.
    name = "waits for no work count as over 1 processor-second"
    rows = [(0, 5, 5, 1, 1), (1, 0, 3, 1, 2), (2, 1, 1, 1, 1), (3, 1, 1, 1, 2)]
    yield from each(name, "fair-share+RULE", rows, [0, 5, 6, 5])
    # At 100 user 1 has 10 / 1 and user 2 has 10 / 90, whoever came first.
    rows = [(0, 10, 10, 1, 9), (0, 0, 5, 1, 1), (0, 90, 90, 1, 2)]
    last = [(20, 5, 5, 1, 1), (21, 5, 5, 1, 2)]
    yield from each(name, "fair-share+RULE", rows + last, [0, 10, 10, 100, 105])
    last = [(20, 5, 5, 1, 2), (21, 5, 5, 1, 1)]
    yield from each(name, "fair-share+RULE", rows + last, [0, 10, 10, 105, 100])
    # At 12 user 1 has 2 / 4 and user 2 has 3 / 6, whoever came first. A second more of wait, and
    # user 2 has 4 / 6 and goes first.
    name = "equal ratios go by submission"
    for first in (1, 2):
        rows = [(0, 2, 2, 1, 9), (0, 4, 4, 1, 1), (3, 6, 6, 1, 2)]
        rows += [(7, 1, 1, 1, first), (8, 1, 1, 1, 3 - first)]
        yield from each(name, "fair-share+RULE", rows, [0, 2, 6, 12, 13])
        longer = [*rows[:2], (2, 6, 6, 1, 2), *rows[3:]]
        last = [13, 12] if first == 1 else [12, 13]
        yield from each(name, "fair-share+RULE", longer, [0, 2, 6, *last])
    # At 5 s after the first submission user 1's first job has just ended.
    name = "a refresh sees the completions of its instant"
    for begin in (0, 7):
        rows = [(0, 5, 5, 1, 1), (1, 3, 3, 1, 1), (2, 1, 1, 1, 2)]
        rows = [(begin + submit, *row) for submit, *row in rows]
        for refresh, starts in (("5s", [0, 6, 5]), ("6s", [0, 5, 8])):
            later = [begin + start for start in starts]
            yield from each(name, f"fair-usage+RULE,refresh={refresh}", rows, later)
    # At 5 user 1's job of run 0 has waited 4 s: the next pass of the instant sees it.
    name = "a refresh sees what starts and ends at its instant from the next pass on"
    rows = [(0, 5, 5, 1, 9), (1, 0, 3, 1, 1), (2, 1, 1, 1, 2), (3, 1, 1, 1, 1)]
    yield from each(name, "fair-share+RULE,refresh=5s", rows, [0, 5, 6, 5])
    yield from each(name, "fair-share+RULE,refresh=6s", rows, [0, 5, 5, 6])
    # What ended at 6 and 8 is seen at 10.
    name = "between refreshes nothing is seen"
    rows = [(0, 6, 6, 1, 1), (1, 2, 2, 1, 1), (2, 3, 3, 1, 2), (3, 1, 1, 1, 1), (4, 1, 1, 1, 2)]
    yield from each(name, "fair-usage+RULE", rows, [0, 10, 6, 12, 9])
    yield from each(name, "fair-usage+RULE,refresh=5s", rows, [0, 6, 8, 12, 11])
    # At 10 user 1 has 6 / 2 = 3, and user 2 the 4 of a job that has just ended, not 4 / 2.
    name = "sums are halved before the completions of the instant"
    rows = [(0, 6, 6, 1, 1), (0, 4, 4, 1, 2), (1, 2, 2, 1, 2), (2, 3, 3, 1, 1)]
    yield from each(name, "fair-usage+RULE", rows, [0, 6, 10, 12])
    yield from each(name, "fair-usage+RULE,halflife=10s", rows, [0, 6, 13, 10])
    # At 2 user 1's 1 is halved to 0, and nobody has less.
    name = "halves are rounded down"
    rows = [(0, 1, 1, 1, 1), (0, 1, 1, 1, 3), (1, 1, 1, 1, 1), (1, 1, 1, 1, 2)]
    yield from each(name, "fair-usage+RULE", rows, [0, 1, 3, 2])
    yield from each(name, "fair-usage+RULE,halflife=2s", rows, [0, 1, 2, 3])
    # At 9 user 1 has 2 / 3 halved at 6, 1 / 1, and user 2 has 3 / 4.
    name = "both sums are halved"
    rows = [(0, 2, 2, 1, 9), (0, 3, 3, 1, 1), (2, 4, 4, 1, 2), (6, 1, 1, 1, 2), (7, 1, 1, 1, 1)]
    yield from each(name, "fair-share+RULE", rows, [0, 2, 5, 9, 10])
    yield from each(name, "fair-share+RULE,halflife=6s", rows, [0, 2, 5, 10, 9])
    # At 7 user 2 has 3 / 2, more than 1 / 1 and less than 2 / 1.
    rows = [*rows[:2], (2, 2, 2, 1, 2), (6, 1, 1, 1, 1), (6, 1, 1, 1, 2)]
    yield from each(name, "fair-share+RULE,halflife=6s", rows, [0, 2, 5, 8, 7])
    # At 5 user 1's second job has waited 4 s.
    name = "a starving job goes before what users had"
    rows = [(0, 5, 5, 1, 1), (1, 3, 3, 1, 1), (2, 1, 1, 1, 2)]
    yield from each(name, "fair-usage+RULE,threshold=4s", rows, [0, 6, 5])
    yield from each(name, "fair-usage+RULE,threshold=3s", rows, [0, 5, 8])
    # At 4 both have worked 4; event by event, user 1 has when user 2 has not yet.
    name = "both completions of an instant count; per event, one at a time"
    rows = [(0, 4, 4, 1, 1), (0, 4, 4, 1, 2), (2, 3, 3, 2, 1), (2, 5, 5, 1, 2)]
    for rule in ("none", "easy", "conservative"):
        yield Case(name, f"fair-usage+{rule}", 2, rows, [0, 0, 4, 7], ORDERS)
        policy = f"fair-usage+{rule},events=per-event"
        yield Case(name, policy, 2, rows, [0, 0, 9, 4], PER_EVENT)
        yield Case(name, f"{policy},refresh=4s", 2, rows, [0, 0, 9, 4], PER_EVENT)
        yield Case(name, f"{policy},refresh=3s", 2, rows, [0, 0, 4, 7], PER_EVENT)
    # At 4 one processor is free beside the head: user 1, who has worked nothing, gets it.
    name = "a backfill order may share too"
    rows = [(0, 10, 10, 2, 3), (0, 4, 4, 1, 2), (1, 5, 5, 3, 3), (2, 3, 3, 1, 2), (3, 3, 3, 1, 1)]
    for queue in ("fcfs", f"{MODULE}:by_submission"):
        for options, starts in (
            ("", [0, 0, 10, 4, 7]),
            (",backfill=fair-usage", [0, 0, 10, 7, 4]),
            (",backfill=fair-usage,refresh=5s", [0, 0, 10, 4, 7]),
        ):
            yield Case(name, f"{queue}+easy{options}", 3, rows, starts, ORDERS)
    # At 4 user 7 has waited 0 s for 8 processor-seconds; a user that has had nothing has 0, too.
    name = "five jobs of three users, one at a time"
    rows = [(0, 4, 4, 2, 7), (1, 2, 2, 2, 8), (2, 3, 3, 2, 7), (2, 3, 3, 2, 8), (2, 3, 3, 2, 9)]
    for policy, starts in (
        # At 6 user 8 goes first with 3 / 4; at 9 both others have 0: 7 by submission.
        ("fair-share+none", [0, 4, 9, 6, 12]),
        # At 4 users 8 and 9 have had nothing; then 9, then 8 with 4, then 7 with 8.
        ("fair-usage+none", [0, 4, 12, 9, 6]),
        # At 6 and at 9 those of 5 count, when 7 had 8.
        ("fair-usage+none,refresh=5s", [0, 4, 12, 6, 9]),
    ):
        yield Case(name, policy, 2, rows, starts, ORDERS)
    # At 2 user 7 has had 2 s of work, user 8 none; at 4, under the other, 7 has waited 2 s.
    name = "a user's own order asks for what users had"
    rows = [(0, 2, 2, 1, 7), (0, 2, 2, 1, 7), (0, 3, 3, 1, 8), (0, 3, 3, 1, 8), (3, 1, 1, 1, 7)]
    yield Case(name, f"{MODULE}:heaviest+none", 1, rows, [0, 5, 2, 7, 10], ORDERS)
    yield Case(name, f"{MODULE}:least_served+none", 1, rows, [0, 2, 5, 8, 4], ORDERS)
    # User 7 has a long job running, user 8 a short one completed: 7 goes first at 2.
    name = "only completed jobs count"
    for user in (7, -1):
        rows = [(0, 10, 10, 1, user), (0, 2, 2, 1, 8), (0, 3, 3, 1, 8), (0, 3, 3, 1, user)]
        yield Case(name, f"{MODULE}:heaviest+none", 2, rows, [0, 0, 5, 2], ORDERS)


def _priorities() -> Iterator[Case]:
    """Slurm's priority; the first job holds the machine while the others come."""
    for name, weights, starts in (
        # Sizes of the others: 3/4, 1, 2/4, 2/4.
        ("the largest goes first", "size=100", [0, 14, 10, 20, 20]),
        (
            "the weight of processors as a TRES ranks the largest first",
            "cpu=100",
            [0, 14, 10, 20, 20],
        ),
        # 1/4, 0, 2/4, 2/4: at 16 only two processors are free.
        ("favor_small ranks the smallest first", "size=100, favor_small=yes", [0, 18, 24, 10, 10]),
        # 3/4 and 1 are 0 and 1, and at least 1: all alike.
        ("a priority is at least 1", "size=1", [0, 10, 16, 20, 20]),
        (
            "without weights, priority is first come, first served",
            "max_age=5s",
            [0, 10, 16, 20, 20],
        ),
    ):
        yield Case(name, f"multifactor({weights})+none", 4, ORDERED, starts, PRIORITY)
    name = "a size relative to time is per minute, rounded up: 4/2/4 and 4/1/4"
    rows: Rows = [(0, 10, 10, 4), (1, 61, 61, 4), (2, 60, 60, 4)]
    policy = "multifactor(size=100, relative_to_time=yes)+none"
    yield Case(name, policy, 4, rows, [0, 70, 10], PRIORITY)
    policy = "multifactor(size=100, relative_to_time=yes, favor_small=yes)+none"
    yield Case(f"1 less {name}", policy, 4, rows, [0, 10, 71], PRIORITY)
    # Size 12.5 and 50; at 12 ages are those of 10, 8/8 and 4/8: 112 and 100; of 12: 112 and 125.
    name = "priorities are calculated every calc"
    rows = [(0, 12, 12, 4), (1, 5, 5, 1), (6, 5, 5, 4)]
    weights = "age=100, size=50, max_age=8s"
    yield Case(name, f"multifactor({weights}, calc=5s)+none", 4, rows, [0, 12, 17], PRIORITY)
    yield Case(name, f"multifactor({weights}, calc=12s)+none", 4, rows, [0, 17, 12], PRIORITY)
    # At 5 user 1 has 20, ranks 3, 3 and 1. At 10 users 1 and 2 have 20 each, user 3 nothing.
    name = "the fair tree ranks users"
    rows = [(0, 5, 5, 4, 1), (0, 5, 5, 4, 2), (1, 3, 3, 4, 1), (2, 3, 3, 4, 3)]
    policy = "multifactor(fairshare=100, calc=5s, halflife=0s)+none"
    yield Case(name, policy, 4, rows, [0, 5, 13, 10], PRIORITY)
    # (3/4) / (40/60) and (1/4) / (20/60); with equal shares user 2 would be first.
    name = "at 15 users 1 and 2 have had 40 and 20, of shares 3 and 1 in account -1"
    rows = [(0, 10, 10, 4, 1), (1, 5, 5, 4, 2), (2, 5, 5, 4, 2), (3, 5, 5, 4, 1)]
    shares = "accounts=(-1=1), users=(1@-1=3)"
    policy = f"multifactor(fairshare=100, calc=5s, halflife=0s, {shares})+none"
    yield Case(name, policy, 4, rows, [0, 10, 20, 15], PRIORITY)
    policy = f"multifactor(fairshare=100, calc=5s, halflife=0s, algorithm=classic, {shares})+none"
    yield Case(name, policy, 4, rows, [0, 10, 20, 15], PRIORITY)
    # At 15 user 1 has (20/2 + 20)/2 = 15 and user 2 20; without decay 40 and 20.
    name = "usage decays by half in a half-life"
    for algorithm in ("tree", "classic"):
        for halflife, starts in (("5s", [0, 10, 20, 15]), ("0s", [0, 10, 15, 20])):
            policy = f"multifactor(fairshare=100, calc=5s, halflife={halflife}"
            policy += f", algorithm={algorithm})+none"
            yield Case(name, policy, 4, rows, starts, PRIORITY)
    # At 4 user 1's running job has had 4 x 3, and user 2's 4 x 1: user 2 starts on the last.
    name = "running jobs are charged"
    rows = [(0, 30, 30, 3, 1), (0, 30, 30, 1, 2), (0, 3, 3, 1, 9), (1, 2, 2, 1, 1), (1, 2, 2, 1, 2)]
    policy = "multifactor(fairshare=100, calc=2s)+easy"
    yield Case(name, policy, 5, rows, [0, 0, 0, 5, 3], PRIORITY)


# User 7 has completed runs of 10 and 20 s, the mean 15, when its third job comes at 32; the fourth
# job then waits for the third.
PAST = [(0, 10, 100, 1, 7), (0, 20, 100, 1, 7)]
HEAD = [*PAST, (30, 40, 100, 3, 1), (31, 5, 5, 4, 2)]


def _predictions() -> Iterator[Case]:
    name = "a job is short enough by its prediction"
    rows = [*HEAD, (32, 30, 200, 1, 7)]
    yield Case(name, "fcfs+easy", 4, rows, [0, 0, 30, 70, 75], PREDICTED, [])
    yield Case(name, "fcfs+easy,predict=last2", 4, rows, [0, 0, 30, 70, 32], PREDICTED, [4])
    name = "predictors differ on the same history"
    # The shadow time is 50: means of 15 and 20, 30/200 of 200, 10.
    rows = [*PAST, (30, 20, 20, 3, 1), (31, 5, 5, 4, 2), (32, 10, 200, 1, 7)]
    for predict, start in (
        ("last2", 32), ("mean(2)", 32), ("mean(1)", 55), ("mean(3)", 55), ("soft", 55),
        ("perfect", 32), ("schedfarm.core.policy.predictions:half_of_the_estimate", 55),
    ):  # fmt: skip
        yield Case(name, f"fcfs+easy,predict={predict}", 4, rows, [0, 0, 30, 50, start], PREDICTED)
    name = "the shortest prediction is backfilled first"
    rows = [*HEAD, (32, 20, 50, 1, 3), (32, 10, 90, 1, 7)]
    shortest = "fcfs+easy,backfill=spf"
    yield Case(name, shortest, 4, rows, [0, 0, 30, 70, 32, 75], PREDICTED)
    yield Case(name, f"{shortest},predict=last2", 4, rows, [0, 0, 30, 70, 42, 32], PREDICTED)
    name = "the queue goes by predictions too"
    rows = [(0, 10, 100, 1, 7), (1, 20, 100, 1, 7), (29, 31, 31, 1, 1)]
    rows += [(40, 5, 100, 1, 7), (41, 6, 20, 1, 3)]
    yield Case(name, "spf+none", 1, rows, [0, 10, 30, 67, 61], PREDICTED)
    yield Case(name, "spf+none,predict=last2", 1, rows, [0, 10, 30, 61, 66], PREDICTED)
    name = "a completion of the instant of a submission counts, a later one does not"
    rows = [*PAST, (5, 40, 40, 2, 1), (6, 5, 5, 4, 2)]
    easy = "fcfs+easy,predict=last2"
    yield Case(name, easy, 4, [*rows, (20, 15, 200, 1, 7)], [0, 0, 5, 45, 20], PREDICTED)
    yield Case(name, easy, 4, [*rows, (19, 15, 200, 1, 7)], [0, 0, 5, 45, 50], PREDICTED)
    # The fourth job starts and ends at 10: a prediction of 1 s would let the fifth start then.
    rows = [(0, 9, 100, 1, 7), (5, 10, 10, 3, 1), (6, 5, 5, 4, 2), (10, 0, 3, 1, 7)]
    rows += [(10, 10, 200, 1, 7)]
    yield Case(name, "fcfs+easy,predict=mean(1)", 4, rows, [0, 5, 15, 10, 20], PREDICTED)
    name = "a correction adds 1 min, doubles, or gives the estimate"
    # At 71 the fifth job, predicted to end at 47, ends at 107, 92 or 232.
    outlived = [*HEAD, (32, 60, 200, 1, 7)]
    for correct, estimate, starts in (
        ("steps", 30, [0, 0, 30, 101, 32, 71]),
        ("double", 30, [0, 0, 30, 92, 32, 97]),
        ("steps", 40, [0, 0, 30, 92, 32, 97]),
        ("estimate", 40, [0, 0, 30, 101, 32, 71]),
    ):
        rows = [*outlived, (71, 30, estimate, 3, 3)]
        yield Case(name, f"{easy},correct={correct}", 4, rows, starts, PREDICTED)
    name = "the second correction adds 5 min to the first"
    # At 110 the prediction of 15 s is 15 + 60 + 300 s: the end is 407, and the last job's 400.
    rows = [*HEAD, (32, 200, 400, 1, 7), (110, 100, 290, 3, 3)]
    yield Case(name, easy, 4, rows, [0, 0, 30, 232, 32, 110], PREDICTED)
    name = "no correction exceeds the estimate"
    # The fifth job ends at 32 + 70 at the latest: the last one, until 105, has to wait.
    rows = [*HEAD, (32, 60, 70, 1, 7), (71, 30, 34, 3, 3)]
    yield Case(name, easy, 4, rows, [0, 0, 30, 92, 32, 97], PREDICTED)
    name = "a correction has no pass of its own"
    # The third job is predicted to end at 45, and again at 105 by the arrival at 50.
    rows = [*PAST, (30, 100, 300, 1, 7), (31, 5, 5, 2, 2), (32, 40, 40, 1, 3), (50, 1, 1, 2, 4)]
    yield Case(name, easy, 2, rows, [0, 0, 30, 130, 50, 135], PREDICTED, [4])
    name = "a reservation lasts for its prediction"
    # The fourth job's is from 130 to 145, or by its estimate to 230; then that of the fifth begins.
    rows = [*PAST, (30, 40, 100, 3, 1), (31, 10, 100, 3, 7), (32, 5, 5, 4, 2)]
    delays, fits = [0, 0, 30, 70, 80, 85], [0, 0, 30, 70, 143, 33]
    for rule, estimate, starts in (
        ("conservative,predict=last2", 113, delays),
        ("depth(2),predict=last2", 113, delays),
        ("conservative,predict=last2", 112, fits),
        ("conservative", 113, fits),
        ("depth(1),predict=last2", 113, fits),
    ):
        yield Case(name, f"fcfs+{rule}", 4, [*rows, (33, 110, estimate, 1, 3)], starts, PREDICTED)


def _limits() -> Iterator[Case]:
    """Slurm's limits of associations and QOS."""

    def case(name: str, rule: str, limits: str, starts: list[int], *jobs: tuple[int, ...]) -> Case:
        rows = [SiteJob(*job) for job in jobs]
        return Case(name, f"fcfs+{rule},limits=({limits})", 4, rows, starts, LIMITS)

    one = "root.MaxJobs=1"
    name = "a held job stops no other, and jobs after it are not backfilled"
    jobs = [(0, 10, 10, 1, 1), (1, 5, 5, 1, 1), (2, 5, 5, 1, 2)]
    for rule in ANY_RULE:
        yield case(name, rule, one, [0, 10, 2], *jobs)._replace(backfilled=[])
    # The second, held until 10, needs all processors: reserved, it would keep the third from 2.
    name = "a held job holds no reservation"
    jobs = [(0, 10, 10, 3, 1), (1, 5, 5, 4, 1), (2, 20, 20, 1, 2), (3, 3, 3, 2, 3)]
    for rule in ("easy", "depth(1)", "depth(2)"):
        yield case(name, rule, one, [0, 22, 2, 10], *jobs)._replace(backfilled=[3])
    name = "a job that is held when it enters the queue has neither reservation nor promise"
    found = case(name, "conservative", one, [0, 22, 2, 10], *jobs)
    yield found._replace(promises=[0, NO, 2, 10], backfilled=[3])
    name = "GrpTRES counts the processors of an account, up to the limit"
    jobs = [(0, 10, 10, 2, 1), (1, 5, 5, 2, 2), (2, 5, 5, 1, 3), (2, 6, 6, 1, 3, 8)]
    yield case(name, "none", "account.7.GrpTRES=cpu=3", [0, 10, 2, 2], *jobs)
    # At 1: 49 + 10. At 2: 48 + 9 + 20 > 60; at 11: 39 + 20. At 11: 39 + 20 + 30; at 31: 19 + 30.
    name = "GrpTRESRunMins counts what the time limits leave, at passes"
    jobs = [(0, 40, 50, 1, 1), (1, 10, 10, 1, 2), (2, 20, 20, 1, 3), (3, 30, 30, 1, 4)]
    yield case(name, "none", "root.GrpTRESRunMins=cpu=1", [0, 1, 11, 31], *jobs)
    name = "MaxJobsPerUser of a QOS replaces MaxJobs for its jobs, which still count for it"
    jobs = [(0, 10, 10, 1, 1), (1, 8, 8, 1, 1), (2, 5, 5, 1, 1), (3, 5, 5, 1, 1, 7, 9)]
    yield case(name, "none", f"{one}, qos.5.MaxJobsPerUser=2", [0, 1, 9, 14], *jobs)
    name = "the MaxJobs of the user, else of the account, else of the root is in force"
    limits = "root.MaxJobs=3, account.7.MaxJobs=2, user.1@7.MaxJobs=1"
    jobs = [(0, 9, 9, 1, 1), (1, 4, 4, 1, 1), (1, 5, 5, 1, 2), (1, 5, 5, 1, 2), (2, 4, 4, 1, 2)]
    yield case(name, "none", limits, [0, 9, 1, 1, 6], *jobs)
    name = "jobs without a user have no limit per user, and count for those of all jobs"
    jobs = [(0, 9, 9, 1, -1), (1, 5, 5, 1, -1), (2, 5, 5, 1, 1), (3, 5, 5, 1, 1)]
    yield case(name, "easy", f"{one}, qos.5.MaxTRESPerUser=cpu=1", [0, 1, 2, 7], *jobs)
    yield case(name, "easy", f"{one}, root.GrpJobs=2", [0, 1, 6, 11], *jobs)
    name = "above MaxSubmitJobs a job waits outside of the queue"
    jobs = [(0, 10, 10, 3, 1), (1, 5, 5, 4, 1), (2, 3, 3, 1, 1), (3, 4, 4, 1, 2)]
    yield case(name, "aggressive", "root.MaxSubmitJobs=2", [0, 10, 15, 3], *jobs)


def _schedulers() -> Iterator[Case]:
    """Slurm's main scheduler and its backfill cycles."""

    def case(
        name: str, options: str, starts: list[int], *jobs: tuple[int, ...], back: tuple[int, ...]
    ) -> Case:
        rows = [SiteJob(*job) for job in jobs]
        return Case(name, f"fcfs+slurm{options}", 4, rows, starts, SCHEDULERS, [*back])

    # The first has 3 of 4 until 100, until 120 in the map, the second needs all 4.
    blocked = [(0, 100, 100, 3, 1), (1, 100, 100, 4, 2)]
    short = (2, 20, 20, 1, 2)
    name = "the main scheduler starts heads at events, a cycle what delays no reservation"
    yield case(name, "", [0, 100, 30], *blocked, short, back=(2,))
    name = "a cycle sees the arrivals of its instant"
    yield case(name, "", [0, 100, 30], *blocked, (30, 20, 20, 1, 2), back=(2,))
    name = "cycles follow each other at the interval"
    found = case(name, ",bf_interval=10s", [0, 100, 20], *blocked, (12, 20, 20, 1, 2), back=(2,))
    yield found
    name = "without cycles, no job overtakes"
    yield case(name, ",bf_interval=off", [0, 100, 200], *blocked, short, back=())
    name = "without the main scheduler, cycles start all jobs"
    off = ",sched_interval=off"
    yield case(name, off, [30, 60], (0, 9, 9, 1, 1), (31, 9, 9, 1, 1), back=())
    name = "a cycle tests so many jobs"
    yield case(name, ",bf_max_job_test=1", [0, 100, 200], *blocked, short, back=())
    name = "a cycle passes over a user's jobs after so many, without counting them"
    options = ",bf_max_job_test=2,bf_max_job_user=1"
    jobs = [*blocked, short, (3, 20, 20, 1, 3)]
    yield case(name, options, [0, 100, 200, 30], *jobs, back=(3,))
    name = "jobs of unknown users are never passed over"
    unknown = [(0, 100, 100, 3, 1), (1, 100, 100, 4, -1), (2, 20, 20, 1, -1)]
    yield case(name, ",bf_max_job_user=1", [0, 100, 30], *unknown, back=(2,))
    # In its cycle at 30 the second starts at 120 in the map.
    long = (2, 300, 300, 1, 2)
    name = "a job that starts later than the window holds no reservation"
    yield case(name, ",bf_window=89s", [0, 330, 30], *blocked, long, back=(2,))
    yield case(name, ",bf_window=90s", [0, 100, 200], *blocked, long, back=())
    name = "the map rounds ends up, so that a job may run past the end of another"
    past = (2, 90, 90, 1, 2)
    yield case(name, "", [0, 120, 30], *blocked, past, back=(2,))
    yield case(name, ",bf_resolution=1s", [0, 100, 200], *blocked, past, back=())
    name = "the main scheduler considers so many jobs at an event, and all at its ticks"
    four = [(0, 100, 100, 1, 1)] * 4
    one = ",default_queue_depth=1"
    yield case(name, f"{one},bf_interval=off", [0, 60, 60, 60], *four, back=())
    yield case(name, one, [0, 30, 30, 30], *four, back=())
    name = "cycles take time by the number of tests, and the next begins an interval later"
    jobs = [*blocked, (2, 5, 5, 1, 2), (11, 20, 20, 1, 3)]
    yield case(name, ",bf_interval=10s", [0, 100, 10, 20], *jobs, back=(2, 3))
    yield case(name, ",bf_interval=10s,bf_rate=1", [0, 100, 10, 22], *jobs, back=(2, 3))
    name = "a cycle ends when its time is over"
    options = ",bf_interval=10s,bf_rate=1,bf_max_time=1s"
    yield case(name, options, [0, 100, 200], *blocked, short, back=())
    name = "cycles without a job in the queue count on"
    jobs = [(0, 5, 5, 4, 1), (100, 50, 50, 3, 1), (101, 50, 50, 2, 1), (102, 5, 5, 1, 1)]
    yield case(name, "", [0, 100, 150, 120], *jobs, back=(3,))
    name = "a held job is tested by neither scheduler"
    jobs = [(0, 100, 100, 1, 1), (1, 10, 10, 1, 1), (2, 10, 10, 4, 2), (3, 20, 20, 1, 3)]
    held = ",bf_max_job_test=2,limits=(root.MaxJobs=1)"
    # At 30 the third is the head; at 100 the second is, and the third needs all processors.
    yield case(name, held, [0, 100, 110, 30], *jobs, back=(3,))


def _leaving() -> Iterator[Case]:
    def case(name: str, policy: str, starts: list[int], *jobs: tuple[int, ...]) -> Case:
        return Case(name, policy, 4, [LeavingJob(*job) for job in jobs], starts, LEAVING)

    for rule in ANY_RULE:
        name = "a withdrawn head leaves with its reservation, and a pass follows"
        jobs = [(0, 10, 10, 3), (1, 0, 5, 4, 4), (2, 20, 20, 1)]
        yield case(name, f"fcfs+{rule}", [0, -1, 2 if rule == "aggressive" else 5], *jobs)
        orders = ("fcfs", "lxf", "fair-share", f"{MODULE}:by_width_then_wait")
        for order in orders if rule in ("none", "aggressive", "easy") else ("fcfs",):
            policy = f"{order}+{rule}"
            name = "no job starts at the instant at which it leaves"
            yield case(name, policy, [0, -1, 10], (0, 10, 10, 4), (1, 0, 5, 4, 9), (2, 3, 3, 4))
            name = "a job with leave 0 leaves before its first pass"
            yield case(name, policy, [0, -1, 1], (0, 10, 10, 3), (1, 0, 5, 1, 0), (1, 4, 4, 1))
        name = "a job that starts before it would leave runs for its run time"
        jobs = [(0, 10, 10, 4), (1, 0, 5, 4, 10), (2, 3, 3, 4)]
        yield case(name, f"fcfs+{rule}", [0, 10, 10], *jobs)
        jobs[1] = (1, 4, 5, 4, 10)
        yield case(name, f"fcfs+{rule}", [0, 10, 14], *jobs)
    # The fourth starves from 6 on; the fifth is the head before it, and may start at 10.
    jobs = [(0, 0, 1, 4, 6), (0, 10, 10, 3), (0, 4, 4, 1), (1, 20, 20, 1), (2, 5, 5, 4)]
    name = "there is no pass where a job that has started would have left"
    yield case(name, "spf+easy,threshold=4s", [0, 0, 0, 10, 30], *jobs)
    name = "there is a pass where a job leaves"
    leaves = (3, 0, 50, 4, 3)
    yield case(name, "spf+easy,threshold=4s", [0, 0, 0, 6, 26, -1], *jobs, leaves)
    name = "where a reserved job leaves, the jobs behind it move up, and the next one is reserved"
    jobs = [(0, 10, 10, 3), (1, 0, 5, 4, 4), (2, 8, 8, 4), (6, 20, 20, 1)]
    yield case(name, "fcfs+depth(1)", [0, -1, 10, 18], *jobs)._replace(promises=[0, 10, NO, NO])
    found = case(name, "fcfs+conservative", [0, -1, 10, 18], *jobs)
    yield found._replace(promises=[0, 10, 15, 18])
    yield from _leaving_limits(case)
    yield from _leaving_cycles(case)


def _leaving_limits(case: Callable[..., Case]) -> Iterator[Case]:
    """Jobs that leave the queue while limits count them, or hold them."""
    jobs = [(0, 10, 10, 3), (1, 0, 5, 4, 4), (2, 20, 20, 1)]
    for rule in ("none", "aggressive", "easy"):
        policy = f"fcfs+{rule},limits=(root.GrpSubmitJobs"
        name = "at the instant at which a job leaves, one from outside enters the queue"
        yield case(name, f"{policy}=2)", [0, -1, 5], *jobs)
        # In the queue the second would start at 10.
        name = "a job leaves before it has entered the queue"
        outside = [(0, 10, 10, 1), (1, 5, 5, 1, 3), (2, 5, 5, 1)]
        yield case(name, f"{policy}=1)", [0, -1, 10], *outside)
    name = "a job that alone exceeds a limit is held until it leaves"
    wide = [(0, 10, 10, 1), (1, 0, 5, 3, 20), (2, 5, 5, 1)]
    yield case(name, "fcfs+easy,limits=(root.GrpTRES=cpu=2)", [0, -1, 2], *wide)
    # At 2: 48 + 20 > 60; at 15: 35 + 20.
    name = "a job that is no longer held starts in the pass of a withdrawal"
    falling = [(0, 40, 50, 1), (0, 0, 100, 1, 15), (2, 20, 20, 1)]
    yield case(name, "fcfs+none,limits=(root.GrpTRESRunMins=cpu=1)", [0, -1, 15], *falling)


def _leaving_cycles(case: Callable[..., Case]) -> Iterator[Case]:
    """Jobs that leave the queue between Slurm's schedulers."""
    jobs = [(0, 100, 100, 3), (1, 0, 100, 4, 4), (2, 300, 300, 1)]
    off = "fcfs+slurm,bf_interval=off"
    name = "a withdrawal has no main scheduler, so that the next tick starts the head"
    yield case(name, off, [0, -1, 60], *jobs)
    name = "a job that enters the queue in place of a withdrawn one has the main scheduler"
    yield case(name, f"{off},limits=(root.GrpSubmitJobs=2)", [0, -1, 5], *jobs)
    name = "a cycle does not test a job that leaves at its instant"
    jobs[1] = (1, 0, 100, 4, 29)
    yield case(name, "fcfs+slurm", [0, -1, 30], *jobs)._replace(backfilled=[])
    jobs[1] = (1, 0, 100, 4, 30)
    yield case(name, "fcfs+slurm", [0, -1, 60], *jobs)
    # The cycle at 10 has two tests; the next one comes 10 s after its end at 12.
    name = "a withdrawal does not change when the next cycle begins"
    jobs = [(0, 100, 100, 2), (1, 0, 100, 4, 11), (2, 60, 60, 1), (11, 20, 20, 1)]
    yield case(name, "fcfs+slurm,bf_interval=10s,bf_rate=1", [0, -1, 10, 22], *jobs)


POOL = tuple(
    case
    for part in (
        _rules,
        _orders,
        _starving,
        _easy,
        _depth,
        _clock,
        _estimate_0,
        _planned,
        _tabu,
        _shares,
        _priorities,
        _limits,
        _schedulers,
        _predictions,
        _leaving,
    )  # fmt: skip
    for case in part()
)
