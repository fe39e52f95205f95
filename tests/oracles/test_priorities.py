"""Slurm's priority: random cases, a log, the examples of Slurm's pages, and refusals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from schedfarm.core.audit import audit
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.errors import InputError
from schedfarm.core.policy.multifactor import read_multifactor
from schedfarm.core.policy.policy import Policy
from schedfarm.core.reference.job import jobs_of
from schedfarm.core.reference.multifactor import Tree, priorities
from schedfarm.core.workload.workload import Workload
from tests.oracles.case import workload
from tests.oracles.compare import check
from tests.oracles.priorities import cases
from tests.oracles.programs import moved
from tests.support.golden import read_log
from tests.support.strategies import crowd

KTH = "KTH-SP2-1996-2.1-cln.swf.gz"

SITE = "multifactor(age=100, fairshare=1000, size=50, max_age=100s, calc=7s, halflife=40s)"


def test_random_definitions() -> None:
    """Kernels, reference and audit agree, under rules whose kernels other tests compile, too."""
    ends = ("+easy", "+easy,threshold=9s")
    found = [
        (work, policy)
        for work, policy in cases(72, seed=5)
        if work.platform.name == "pool" and policy.name.endswith(ends)
    ]
    assert len(found) > 6
    for work, policy in found:
        check(work, policy)


def test_a_crowd() -> None:
    """Queues are longer than the blocks in which kernels keep them."""
    check(crowd(3, 40), Policy.parse(f"{SITE}+easy"))


def test_a_log_passes_and_a_second_does_not(traces: Path) -> None:
    work = read_log(traces, KTH, jobs=1000)
    policy = "multifactor(age=1000, fairshare=10000, size=500)+easy"
    schedule = simulate(work, policy)
    verdict = audit(schedule, policy)
    assert (verdict.ok, verdict.unaudited) == (True, ()), verdict.why
    job = int(np.flatnonzero(schedule.wait > 0)[50])
    verdict = audit(moved(schedule, job, 1), policy)
    assert (verdict.job, verdict.instant) == (job, schedule.start[job])


def test_priorities_by_hand() -> None:
    """Slurm's example of partitions (20 and 10, weight 5000), a QOS, and a name of the log."""
    work = Workload.from_columns(
        submit=[0, 0, 0],
        run=[1, 1, 1],
        estimate=[1, 1, 1],
        procs=[1, 1, 2],
        partition=[0, 1, 5],
        queue=[3, 4, 3],
        processors=2,
        names={"partition": {0: "a", 1: "b"}},
    )
    text = "multifactor(partition=5000, qos=10, partitions=(a=20, b=10), qos_priority=(3=4, 4=2))"
    jobs = jobs_of(work)
    found = priorities(read_multifactor(text), work, jobs, jobs, 0)
    assert [found[job] for job in jobs] == [5010, 2505, 260]
    assert simulate(work, f"{text}+none").start.tolist() == [0, 0, 1]


# Accounts A (B, C) and D (E, F), users 1 to 5, as in "Example" of classic_fair_share.
ACCOUNTS = "accounts=(A=40, D=60, B=A/30, C=A/10, E=D/25, F=D/35)"
USERS = "users=(1@B=1, 2@C=1, 3@C=1, 4@E=1, 5@F=1)"


def tree_of(text: str, usage: dict[tuple[str, str], float]) -> Tree:
    """Return the tree of a definition without jobs, with these usages."""
    work = workload(1, [])
    tree = Tree(read_multifactor(text), work, jobs_of(work))
    for pair, used in usage.items():
        tree.of_pair[pair].usage = used
    tree.add_up(tree.root)
    return tree


def test_a_higher_tier_comes_first_by_hand() -> None:
    """Priorities order the jobs of one tier; partitions that are not listed have tier 1."""
    work = Workload.from_columns(
        submit=[0, 1, 1, 1, 1], run=[5] * 5, estimate=[5] * 5, procs=[1] * 5,
        partition=[7, 7, 3, 3, 4], processors=1,
    )  # fmt: skip
    factors = "partition=1000, partitions=(7=900, 3=1, 4=2)"
    for tiers, starts in (
        ("", [0, 5, 15, 20, 10]),
        (", tiers=(3=2)", [0, 15, 5, 10, 20]),
        (", tiers=(3=2, 4=2)", [0, 20, 10, 15, 5]),
        (", tiers=(7=0, 4=65533)", [0, 20, 10, 15, 5]),
    ):
        policy = Policy.parse(f"multifactor({factors}{tiers})+easy")
        assert simulate(work, policy).start.tolist() == starts, tiers
        check(work, policy)


def test_the_example_of_the_classic_formula() -> None:
    """Usages there are parts of the machine, of which 0.3 was idle."""
    used = {("1", "B"): 0.2, ("2", "C"): 0.25, ("4", "E"): 0.25}
    tree = tree_of(f"multifactor({ACCOUNTS}, {USERS})", used)
    tree.root.usage = 1.0
    tree.classic(1)
    factors = [one.factor for one in tree.of_pair.values()]
    assert factors == pytest.approx([0.408479, 0.022097, 0.125, 0.5, 0.749154], abs=1e-4)


@pytest.mark.parametrize(
    ("text", "usage", "ranks"),
    [
        # No usage: all accounts tie and are merged, all users tie.
        (f"{ACCOUNTS}, {USERS}", {}, [5, 5, 5, 5, 5]),
        # D (0.6 / 0.36) precedes A (0.4 / 0.64); F has nothing; B (0.75 / 0.31), C (0.25 / 0.69).
        (
            f"{ACCOUNTS}, {USERS}",
            {("1", "B"): 0.2, ("2", "C"): 0.25, ("3", "C"): 0.2, ("4", "E"): 0.36},
            [3, 1, 2, 4, 5],
        ),
        # Users a and b of P, and its account Q, have nothing: c has the rank of a, and so has d.
        ("accounts=(P=1, Q=P/1), users=(a@P=1, b@P=1, c@Q=1, d@Q=1)", {}, [4, 4, 4, 4]),
        # P and R tie at 0.5 / 0.5 and are merged: their users of equal values tie across accounts.
        (
            "accounts=(P=1, R=1), users=(a@P=1, b@P=1, c@R=1, d@R=1)",
            {("a", "P"): 3.0, ("b", "P"): 1.0, ("c", "R"): 1.0, ("d", "R"): 3.0},
            [2, 4, 4, 2],
        ),
        # A of P ties with 1 and has B, without users, before 2, who has the rank of 1.
        (
            "accounts=(P=1, A=P/1, B=A/1), users=(1@P=1, 2@A=1)",
            {("1", "P"): 10.0, ("2", "A"): 10.0},
            [2, 2],
        ),
        # No shares is the lowest value.
        ("accounts=(P=1), users=(a@P=0, b@P=1)", {("b", "P"): 9.0}, [1, 2]),
    ],
)
def test_ranks_of_the_fair_tree(
    text: str, usage: dict[tuple[str, str], float], ranks: list[int]
) -> None:
    """Ties are those of the section "Ties" of fair_tree."""
    tree = tree_of(f"multifactor({text})", usage)
    tree.rank()
    found = [round(one.factor * len(ranks)) for one in tree.of_pair.values()]
    assert found == ranks


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("multifactor(aeg=1)+easy", "argument 'aeg' is unknown; did you mean 'age'"),
        ("multifactor(age=-1)+easy", "age='-1'; give a whole number from 0 to 4294967295"),
        ("multifactor(age=1, age=2)+easy", "argument 'age' is given twice"),
        ("multifactor(age)+easy", "argument 'age' has no value"),
        ("multifactor(age=1)x+easy", "does not end with '\\)'"),
        ("multifactor(calc=0s)+easy", "calc='0s'; give a whole number from 1 and a unit"),
        ("multifactor(algorithm=three)+easy", "did you mean 'tree'"),
        ("multifactor(damping=0)+easy", "damping=0; give a whole number from 1"),
        ("multifactor(favor_small=1)+easy", "favor_small='1'; give yes or no"),
        ("multifactor(accounts=a)+easy", "give a list in parentheses"),
        ("multifactor(accounts=(a=b/1))+easy", "account 'a' is below 'b', which is not listed"),
        (
            "multifactor(users=(x@a=1))+easy",
            "account 'a', which is not listed; list it in accounts$",
        ),
        ("multifactor(users=(x=1))+easy", "'x' has no account; write USER@ACCOUNT=SHARES"),
        ("multifactor(qos_priority=(a=1, a=2))+easy", "'a' is listed twice"),
        ("multifactor(qos_priority=(a))+easy", "'a' has no value"),
        ("multifactor(partitions=(a=65534))+easy", "give a whole number from 0 to 65533"),
        ("multifactor(accounts=(a b=1))+easy", "'a b' is not a name"),
    ],
)
def test_refusals(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Policy.parse(text)


def test_names_are_canonical() -> None:
    """The text of a definition is read again as the same policy."""
    for _, policy in cases(30, seed=9):
        assert Policy.parse(policy.name) == policy
    assert Policy.parse("Multifactor( age = 5 ,calc=5m)+easy").name == "multifactor(age=5)+easy"
    assert Policy.parse("MULTIFACTOR+easy").name == "multifactor+easy"
    assert Policy.parse("multifactor()+easy").name == "multifactor+easy"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("accounts=(optics=3)", "accounts lists 'optics', but there are no names in .* 'group'"),
        ("accounts=(a=1, 7=a/1), users=(7@a=1)", "users lists 'a', .* 'group'"),
        ("accounts=(7=1), users=(ann@7=1)", "users lists 'ann', .* 'user'"),
        ("qos=1, qos_priority=(3=1, high=9)", "qos_priority lists 'high', .* 'queue'"),
        ("partition=1, partitions=(debug=9)", "partitions lists 'debug', .* 'partition'"),
    ],
)
def test_names_need_those_of_the_log(arguments: str, said: str) -> None:
    """Kernels, reference and audit refuse them; numbers, and an account above, stay."""
    work, text = crowd(1, 3), f"multifactor({arguments})"
    jobs, schedule = jobs_of(work), simulate(work, "fcfs+none")
    with pytest.raises(InputError, match=said):
        simulate(work, f"{text}+none")
    with pytest.raises(InputError, match=said):
        priorities(read_multifactor(text), work, jobs, jobs, 0)
    with pytest.raises(InputError, match=said):
        audit(schedule, f"{text}+none")
    simulate(work, "multifactor(accounts=(physics=1, 7=physics/1), users=(1@7=2))+none")


def test_nodes_refuse_it() -> None:
    from tests.support.strategies import nodes_of

    with pytest.raises(InputError, match="depends on users' usage"):
        simulate(workload(nodes_of(1), []), "multifactor(age=1)+conservative")
