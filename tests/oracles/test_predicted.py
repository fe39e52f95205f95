"""Predicted run times: the kernel and the reference agree, and bad options are refused."""

from __future__ import annotations

import numpy as np
import pytest

from schedfarm.core.audit import audit
from schedfarm.core.engine.fair_start import fair_start_times
from schedfarm.core.engine.predicting import part_of
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.errors import InputError
from schedfarm.core.explanation import explain
from schedfarm.core.machines.grid.platform import Grid
from schedfarm.core.machines.platform import Platform
from schedfarm.core.machines.resources.platform import Resources
from schedfarm.core.metrics.summary import summarise
from schedfarm.core.policy.policy import Policy
from schedfarm.core.reference.fair_start import fair_start_reference
from schedfarm.core.reference.loop import simulate_reference
from schedfarm.core.workload.workload import Workload
from tests.oracles.predicted import check_many, drawn

nothing = 3


def too_few() -> int:
    """Take nothing."""
    return 1


def wordy(job: object, completed: object) -> str:
    """Return words."""
    return "an hour"


class Counting:
    """Predict 1 s more for each job of one simulation."""

    def __init__(self) -> None:
        self.seen = 0

    def __call__(self, job: object, completed: object) -> int:
        self.seen += 1
        return self.seen


HERE = "tests.oracles.test_predicted:"

JOBS = Workload.from_columns(
    submit=[0, 0, 20], run=[10, 20, 9], estimate=[90, 90, 90], procs=[1, 1, 1], user=[7, 7, 7],
    processors=2,
)  # fmt: skip


def test_kernel_and_reference_agree() -> None:
    check_many(150, seed=3)


@pytest.mark.parametrize(
    ("policy", "sentence"),
    [
        ("fcfs+easy,predict=last3", "predict='last3' is unknown; did you mean 'last2'"),
        ("fcfs+easy,predict=mean(0)", "give the mean of 1 to 64 jobs, such as mean\\(5\\)"),
        ("fcfs+easy,predict=mean(K)", "give the mean of 1 to 64 jobs"),
        ("fcfs+easy,correct=double", "correct=double corrects predictions; add predict="),
        ("fcfs+easy,predict=soft,correct=half", "correct='half' is unknown"),
        ("fcfs+easy,predict=soft,events=per-event", "predictions need events=instant"),
        ("lxf+easy,predict=soft", "order 'lxf' changes while jobs wait; predictions need one"),
        ("fcfs+easy,backfill=lxf,predict=soft", "order 'lxf' changes while jobs wait"),
        ("fcfs+planned,predict=soft", "predict=soft is an option of rules 'none', 'aggressive', "),
        ("lxf+depth(2),predict=soft", "order 'lxf' changes while jobs wait; predictions need one"),
        ("fcfs+conservative,correct=double", "correct=double corrects predictions; add predict="),
        (f"fcfs+easy,predict={HERE}nothing", "is int; it must be a function or a class"),
        (f"fcfs+easy,predict={HERE}too_few", "is not a function of \\(job, completed\\)"),
        (f"fcfs+easy,predict={HERE}missing", "cannot be imported"),
    ],
)
def test_bad_policies_are_refused(policy: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        Policy.parse(policy)


@pytest.mark.parametrize("platform", [Grid([1, 1], ["a", "b"]), Resources(1, {"gpus": 1})])
def test_predictions_are_for_pools(platform: Platform) -> None:
    jobs = Workload.from_columns(submit=[0], run=[1], estimate=[1], procs=[1], platform=platform)
    with pytest.raises(InputError, match="predict=last2 is for one pool of processors"):
        simulate(jobs, "fcfs+easy,predict=last2")
    with pytest.raises(InputError, match="predict=last2 is for pools only"):
        simulate_reference(jobs, "fcfs+easy,predict=last2")


def test_a_predictor_that_returns_no_number_is_named() -> None:
    with pytest.raises(InputError, match="wordy' returned 'an hour' for job 1; it must return a"):
        simulate(JOBS, f"fcfs+easy,predict={HERE}wordy")


def test_a_class_begins_again_with_each_simulation() -> None:
    policy = f"fcfs+easy,predict={HERE}Counting"
    first, second = (simulate(JOBS, policy) for _ in range(2))
    assert first.start.tolist() == second.start.tolist()
    # Predicted 1, 2 and 3 s for runs of 10, 20 and 9 s.
    assert summarise(first)["underprediction"] == (9 + 18 + 6) / 3


def test_metrics_of_predictions() -> None:
    # The third job is predicted (10 + 20) / 2 s and runs for 9 s; the others have estimates of 90.
    of = summarise(simulate(JOBS, "fcfs+easy,predict=last2"))
    assert of["prediction_accuracy"] == np.mean([10 / 90, 20 / 90, 9 / 15])
    assert of["overprediction"] == (80 + 70 + 6) / 3
    assert (of["underprediction"], of["underpredicted"]) == (0, 0)
    assert summarise(simulate(JOBS, "fcfs+easy"))["overprediction"] == (80 + 70 + 81) / 3


def test_audits_do_not_judge_predictions() -> None:
    policy = "fcfs+easy,predict=last2"
    verdict = audit(simulate(JOBS, policy), policy)
    assert verdict.ok
    assert verdict.unaudited == ("predict=last2",)
    assert policy not in verdict.checked


def test_explanations_do_not_know_predictions() -> None:
    with pytest.raises(InputError, match="explanations support estimates only"):
        explain(simulate(JOBS, "fcfs+easy,predict=last2"), 2)


def test_fair_start_times_are_those_of_the_reference() -> None:
    random = np.random.default_rng(5)
    for _ in range(5):
        work, policy = drawn(random)
        n = len(work)
        for kind in ("strict", "relaxed"):
            expected = fair_start_reference(work, policy, kind == "relaxed", range(n), np.arange(n))
            assert fair_start_times(work, policy, kind).tolist() == expected


@pytest.mark.parametrize(
    ("whole", "part", "parts"),
    [(0, 0, 1), (7, 2, 3), (2**61 - 1, 2**60 + 7, 2**61 + 5), (2**62, 2**62 - 1, 2**62 - 1)],
)
def test_products_do_not_overflow(whole: int, part: int, parts: int) -> None:
    assert part_of(whole, part, parts) == whole * part // parts
