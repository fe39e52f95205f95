"""Policy search: races, resumption, proposals and their language, and the division of weeks."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from schedfarm.core.arrays import Float64
from schedfarm.core.errors import InputError
from schedfarm.core.policy.expression import Expression, text_of
from schedfarm.core.policy.functions import ARGUMENTS
from schedfarm.core.workload.resample_weeks import WEEK
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.search import journal
from schedfarm.farm.search.cells import Sampling, sample_of
from schedfarm.farm.search.coefficients import Coefficients
from schedfarm.farm.search.growth import Growth
from schedfarm.farm.search.orders import nodes, number, with_values
from schedfarm.farm.search.race import race
from schedfarm.farm.search.regression import best_fits
from schedfarm.farm.search.run import STATE, search
from schedfarm.farm.search.spec import FOLDER, Grow, Parameter, Spec
from schedfarm.farm.search.split import divided
from schedfarm.farm.store.provenance import program

TRACE = Trace(name="m64", model="lublin", processors=64, weeks=1)

TUNED = Spec(
    name="tuned",
    traces=(TRACE,),
    order="estimate**a * procs - b * (now - submit)",
    parameters={"a": [0, 2], "b": {"low": 0.01, "high": 100, "log": True}},
    generations=3,
    candidates=6,
)

GROWN = Spec(name="grown", traces=(TRACE,), grow={"size": 9}, generations=3, candidates=8)


def made_up(function: Callable[..., Any], given: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Answer for the simulator: a value of each sample and policy, the same at each call."""

    def value(sample: int, policy: str) -> float:
        digest = hashlib.sha256(f"{sample} {policy}".encode()).digest()
        return 10 + len(policy) % 7 + digest[0] / 256

    return [[value(sample, policy) for policy in policies] for _, sample, policies in given]


class Stopped(Exception):
    """Ends a search between two batches, as a killed process does."""


def stopping(batches: int) -> Callable[..., list[Any]]:
    left = iter(range(batches))

    def run(function: Callable[..., Any], given: Sequence[tuple[Any, ...]]) -> list[Any]:
        if next(left, None) is None:
            raise Stopped
        return made_up(function, given)

    return run


@pytest.mark.parametrize("spec", [TUNED, GROWN], ids=["tuned", "grown"])
def test_killed_search_resumes_to_the_same_bytes(spec: Spec, tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    said: list[str] = []
    found = search(spec, whole, made_up, said.append)
    with pytest.raises(Stopped):
        search(spec, killed, stopping(4))
    before = len((killed / STATE).read_bytes())
    assert search(spec, killed, made_up) == found
    assert (killed / STATE).read_bytes() == (whole / STATE).read_bytes()
    assert before < len((whole / STATE).read_bytes())
    # A finished search answers from its state alone.
    assert search(spec, whole, stopping(0)) == found
    assert len(said) == spec.generations + 1
    assert said[0].startswith("generation 1 of 3: bounded_slowdown ")


def test_state_of_another_search_is_refused(tmp_path: Path) -> None:
    search(replace(TUNED, generations=1), tmp_path, made_up)
    with pytest.raises(InputError, match="another 'generations'; give another --out"):
        search(TUNED, tmp_path, made_up)
    state = json.loads((tmp_path / STATE).read_text())
    for text in (
        "[]",
        '{"version":1,"search":5,"batches":[]}',
        json.dumps(state | {"batches": [{}]}),
        json.dumps(state | {"batches": [{"asked": {}, "results": [["10"]]}]}),
    ):
        (tmp_path / STATE).write_text(text)
        with pytest.raises(InputError, match=r"is not the state of a search \(.*; give another --"):
            search(replace(TUNED, generations=1), tmp_path, made_up)


def a_log(path: Path, run: int = 60, jobs: int = 20) -> Trace:
    """Write a log of two jobs a week, and return its trace."""
    rows = "".join(
        f"{k + 1} {k * WEEK // 2} 0 {run} 1 -1 -1 1 {run} -1 1 1 1 1 1 1 -1 -1\n"
        for k in range(jobs)
    )
    path.write_text("; MaxProcs: 8\n" + rows)
    return Trace(file=str(path))


def test_state_of_another_log_or_program_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = replace(TUNED, traces=(a_log(tmp_path / "a.swf"),), generations=1)
    search(spec, tmp_path, made_up)
    a_log(tmp_path / "a.swf", run=61)
    with pytest.raises(InputError, match="another 'log a'; give another --out"):
        search(spec, tmp_path, made_up)
    a_log(tmp_path / "a.swf")
    own = program()
    monkeypatch.setattr(journal, "program", lambda: replace(own, code="0"))
    with pytest.raises(InputError, match="another 'program'; give another --out"):
        search(spec, tmp_path, made_up)


def test_worker_refuses_another_log(tmp_path: Path) -> None:
    trace = a_log(tmp_path / "a.swf")
    log = trace.read()
    assert log is not None
    one = Sampling(
        trace, load="original", metric="wait", tau=10, digest=log.digest(), **TUNED.settings
    )
    assert len(sample_of(one, 1))
    a_log(tmp_path / "a.swf", run=61)
    assert len(sample_of(one, 1)), "the jobs that this process has read are still the same"
    with pytest.raises(InputError, match=r"a.swf has other jobs on .* than on the coordinator"):
        sample_of(replace(one, trace=replace(trace, name="b")), 1)


def test_race_drops_what_is_surely_worse() -> None:
    """Half at the most stays, and fewer if the paired interval excludes the rest."""
    asked: list[tuple[tuple[str, ...], range]] = []
    noise = np.random.default_rng(1).uniform(0.9, 1.1, 100)
    means = {"base": 100.0, "best": 50.0, "near": 50.5, "far": 80.0, "bad": 90.0, "none": math.inf}

    def simulate(policies: Sequence[str], samples: range) -> Float64:
        asked.append((tuple(policies), samples))
        return np.array([[[means[p] * noise[k] for k in samples]] for p in policies])

    names = ["bad", "far", "near", "none", "best"]
    ranked = race("base", names, simulate, 1, 16)
    assert [names[one.place] for one in ranked] == ["best", "near", "far", "bad", "none"]
    assert [one.samples for one in ranked] == [16, 4, 4, 4, 4]
    assert ranked[0].score == pytest.approx(math.log(0.5))
    assert asked[1] == (("base", "best"), range(5, 9))


def test_proposals_are_orders_of_the_language() -> None:
    proposer = Growth(GROWN)
    seen = set()
    for _ in range(4):
        asked = proposer.ask()
        assert len(asked) == len(set(asked)) == GROWN.candidates
        for text in asked:
            tree = Expression.parse(text, ARGUMENTS).tree
            assert f"({text_of(tree)})" == text
            assert nodes(tree) <= 9
            assert tree.names <= {"submit", "estimate", "procs"}
        seen.update(asked)
        proposer.tell(sorted(range(len(asked)), key=lambda k: len(asked[k])))
    assert len(seen) > 2 * GROWN.candidates


def test_coefficients_come_to_the_best_ones() -> None:
    proposer = Coefficients(replace(TUNED, candidates=12))
    for _ in range(30):
        asked = proposer.ask()
        values = [read(text) for text in asked]
        distance = [abs(a - 1.5) + abs(math.log10(b)) for a, b in values]
        order = sorted(range(len(asked)), key=lambda k: distance[k])
        proposer.tell([order.index(k) for k in range(len(asked))])
    (centre,) = proposer.centre()
    assert read(centre) == pytest.approx((1.5, 1), rel=0.05)


def read(text: str) -> tuple[float, float]:
    first, _, rest = text.removeprefix("(estimate**").partition(" * procs - ")
    return float(first), float(rest.partition(" * ")[0])


def test_negative_constants_keep_their_sign_under_a_power() -> None:
    order = Expression.parse("a**2 + b * submit", (*ARGUMENTS, "a", "b"))

    tree = with_values(order.tree, {"a": -3.0, "b": -0.123456})
    assert text_of(tree) == "(-3)**2 + -0.1235 * submit"
    assert Expression.parse(text_of(tree), ARGUMENTS).tree == tree
    assert text_of(number(-2)) == "-2"


def test_regression_finds_the_function_behind_the_scores() -> None:
    random = np.random.default_rng(3)
    r, n = 10 ** random.uniform(0, 5, 500), random.integers(1, 257, 500).astype(float)
    s = 10 ** random.uniform(0, 5, 500)
    score = 1e-6 * (np.log10(r) * n + 870 * np.log10(s))
    best, _ = best_fits(r, n, s, score, 2)
    assert best.order == "(log10(max(estimate, 1)) * procs + 870 * log10(max(submit, 1)))"
    assert best.error < 1e-15


def test_weeks_of_search_and_verdict_are_disjoint(tmp_path: Path) -> None:
    log = tmp_path / "a.swf"
    spec = replace(TUNED, traces=(a_log(log),), held_out=(TRACE,), training=0.3)
    parts_of = divided(spec)
    ((seen, _),), (later, other) = parts_of.training, parts_of.verdict
    parts = [one.read() for one in (seen, later)]
    jobs = [set() if one is None else set(one.job.tolist()) for one in parts]
    assert (len(jobs[0]), len(jobs[1]), jobs[0] & jobs[1]) == (6, 12, set())
    assert (seen.weeks, other) == (4, TRACE)
    with pytest.raises(InputError, match="has 1 whole week; a search needs at least 2"):
        divided(replace(spec, traces=(Trace(file=str(log), rows=(0, 2)),)))


def test_jobs_of_search_and_verdict_are_disjoint(tmp_path: Path) -> None:
    log, copy = a_log(tmp_path / "a.swf"), a_log(tmp_path / "copy.swf")
    spec = replace(TUNED, traces=(log,))
    for traces, held_out, shared in (
        ((log,), (replace(log, name="b"),), "the verdict on trace 'b' share 8 jobs"),
        ((log,), (copy,), "search on trace 'a' and the verdict on trace 'copy' share 8 jobs"),
        (
            (replace(log, rows=(0, 12)), replace(log, name="b", rows=(6, 20))),
            (),
            "search on trace 'b' and the verdict on trace 'a' share 4 jobs; leave one",
        ),
    ):
        with pytest.raises(InputError, match=shared):
            divided(replace(spec, traces=traces, held_out=held_out))
    halves = (replace(log, rows=(0, 10)), replace(log, name="b", rows=(10, 20)))
    assert [*divided(replace(spec, traces=halves)).logs] == ["a", "b"]
    assert len(divided(replace(spec, held_out=(a_log(tmp_path / "c.swf", run=5),))).verdict) == 2


BAD = {
    "give one of 'order' with .*; found none": {},
    "found order and grow": {"order": "a * procs", "parameters": {"a": [0, 1]}, "grow": {}},
    "give both, such as": {"order": "procs"},
    r"parameter 'a': low is 2 and high 1; low must be below high": {
        "order": "a * procs",
        "parameters": {"a": [2, 1]},
    },
    "parameter 'a': low is 0; with log = true it must be above 0": {
        "order": "a * procs",
        "parameters": {"a": {"low": 0, "high": 1, "log": True}},
    },
    "order has no b; leave such parameters out": {
        "order": "a * procs",
        "parameters": {"a": [0, 1], "b": [0, 1]},
    },
    "parameter 'now' has the name of an input": {
        "order": "now * procs",
        "parameters": {"now": [0, 1]},
    },
    "'prosc' is not a known name; did you mean 'procs'": {
        "order": "a * prosc",
        "parameters": {"a": [0, 1]},
    },
    "grow: operations: 'sine' is unknown": {"grow": {"operations": ["sine"]}},
    "grow: give at least one of 'inputs'": {"grow": {"operations": ["sqrt"]}},
    "regression: trials is 1; it must be a whole number": {"regression": {"trials": 1}},
    "metric: 'utilisation' is unknown": {"grow": {}, "metric": "utilisation"},
    "rule 'mine:rule' is a plug-in": {"grow": {}, "rule": "mine:rule"},
    "candidates is 2; it must be a whole number from 4": {"grow": {}, "candidates": 2},
    "two traces have the name 'm64'": {"grow": {}, "held_out": (TRACE,)},
    "the search itself divides the weeks": {
        "grow": {},
        "traces": (Trace(file="a.swf", select={"weeks": [0, 4]}),),
    },
}


@pytest.mark.parametrize("sentence", BAD)
def test_bad_specifications(sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        Spec(**{"name": "bad", "traces": (TRACE,), **BAD[sentence]})


def test_specification_is_read_back(tmp_path: Path) -> None:
    for spec in (TUNED, GROWN, Spec.from_toml(FOLDER / "carastan-2017.toml")):
        assert Spec.from_dict(spec.to_dict(), tmp_path) == spec
    assert Spec.from_dict(GROWN.to_dict(), tmp_path).grow == {
        "inputs": ["submit", "estimate", "procs"],
        "operations": ["+", "-", "*", "/", "max", "sqrt", "log10"],
        "size": 9,
        "start": [],
    }
    assert Grow(start=("procs",)).size == 15
    assert Parameter.from_plain("a", [0, 1]).high == 1
