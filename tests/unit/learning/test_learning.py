"""Environments for learning: their episodes, observations, masks and rewards."""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env

from schedfarm import learning
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.errors import InputError
from schedfarm.core.metrics.summary import summarise
from schedfarm.core.stepping.fields import START, list_of
from schedfarm.core.workload.load import scale_load
from schedfarm.core.workload.resample_weeks import WEEK, resample_weekly
from schedfarm.core.workload.workload import Workload
from schedfarm.learning import SchedulingEnv, SchedulingVectorEnv, evaluate, split_weeks
from schedfarm.learning.batch import Batch
from schedfarm.learning.samples import Samples
from tests.oracles.case import workload


@cache
def log() -> Workload:
    """Return about eight weeks of few jobs, which take the machine twice a day."""
    random = np.random.default_rng(3)
    n = 900
    run = random.integers(1, 20_000, n)
    return Workload.from_columns(
        submit=np.sort(random.integers(0, 8 * WEEK, n)),
        run=run,
        estimate=run + random.integers(0, 5_000, n),
        procs=random.integers(1, 17, n),
        user=random.integers(0, 9, n),
        group=random.integers(-1, 2, n),
        processors=16,
    )


def played(env: SchedulingEnv, sample: int) -> tuple[float, dict[str, Any]]:
    """Play a sample with the first possible actions."""
    _, info = env.reset(seed=sample)
    ended = False
    while not ended:
        _, reward, ended, _, info = env.step(int(info["action_mask"].argmax()))
    return float(reward), info


@pytest.mark.parametrize("rule", ["free", "none", "easy"])
@pytest.mark.parametrize("observation", ["compact", "schedgym"])
def test_gymnasium_accepts_the_environment(rule: str, observation: str) -> None:
    env = SchedulingEnv(log(), rule=rule, observation=observation, slots=8)
    check_env(env, skip_render_check=True)


def test_training_and_test_weeks_are_disjoint() -> None:
    """Over many samples, every job that a part draws is of its own weeks, and all are drawn."""
    train, test = split_weeks(log(), 0.7)
    week = (log().submit - log().submit[0]) // WEEK
    assert train.job.tolist() == log().job[week < 6].tolist()
    assert test.job.tolist() == log().job[(week >= 6) & (week < 8)].tolist()
    for part, own in (("train", train), ("test", test)):
        samples = Samples.of(log(), part, 0.7, 2, None, 5)
        drawn = np.concatenate([samples.draw(k).job for k in range(1, 60)])
        assert set(drawn.tolist()) == set(own.job.tolist())


def test_samples_are_those_of_the_farm() -> None:
    env = SchedulingEnv(log(), part="test", campaign_seed=5, weeks=3)
    env.reset(seed=4)
    known = resample_weekly(split_weeks(log())[1], seed=5, index=4, weeks=3)
    assert env.workload.digest() == known.digest()
    assert env.reset()[1]["sample"] == 5


def test_load_is_that_of_the_part() -> None:
    """One week is drawn of the training weeks, whose run times are scaled as one."""
    env = SchedulingEnv(log(), load=0.5)
    env.reset(seed=1)
    at = {job: run for job, run in zip(*scaled_train(0.5), strict=True)}
    assert [at[job] for job in env.workload.job.tolist()] == env.workload.run.tolist()
    assert env.load_label == "0.5"


def scaled_train(load: float) -> tuple[list[int], list[int]]:
    """Return numbers and run times of the training jobs at a load."""
    train = scale_load(split_weeks(log())[0], load)
    return train.job.tolist(), train.run.tolist()


@pytest.mark.parametrize(("rule", "policy"), [("none", "fcfs+none"), ("easy", "fcfs+easy")])
def test_the_reward_is_the_metric_of_the_schedule(rule: str, policy: str) -> None:
    for name, sign in (("bounded_slowdown", -1), ("wait", -1), ("utilisation", 1)):
        env = SchedulingEnv(log(), rule=rule, reward=name, tau=60.0)
        reward, info = played(env, 2)
        schedule = simulate(env.workload, policy)
        assert env.schedule().start.tolist() == schedule.start.tolist()
        assert env.schedule().backfilled.tolist() == schedule.backfilled.tolist()
        assert reward == sign * info["value"] == sign * summarise(schedule, 60.0)[name]
        assert info["refused"] == 0


def test_backfills_take_the_extra_processors() -> None:
    """The last job ends after the shadow time of the second, on processors that it leaves."""
    rows = [(0, 10, 10, 3), (1, 9, 9, 3), (1, 30, 30, 1)]
    env = _alone(workload(4, rows), "easy")
    for _ in range(2):
        env.actions[0] = 0
        env.play()
    assert env.schedule(0, "x").start.tolist() == [0, 10, 1]


def _alone(work: Workload, rule: str, observation: str = "compact", slots: int = 4) -> Batch:
    """Return a batch that stands at the first decision of a workload, which no sample drew."""
    samples = Samples(work, 100, 1, 1)
    batch = Batch(1, samples, rule, observation, slots, "wait", 10.0)
    object.__setattr__(samples, "draw", lambda sample: work)
    batch.load(0, 1)
    batch.play()
    return batch


def test_what_the_agent_sees() -> None:
    """A job runs, the oldest waits for it, and of two behind it one is short enough."""
    rows = [(0, 10, 10, 3), (1, 9, 9, 4), (2, 8, 8, 1), (2, 20, 20, 1)]
    batch = _alone(workload(4, rows), "free")
    batch.actions[0] = 0
    batch.play()
    week, most = np.log1p(WEEK), np.log1p(20)
    expected = [
        [1, np.log1p(1) / week, np.log1p(9) / most, 1.0, 0, 0],
        [1, 0, np.log1p(8) / most, 0.25, 1, 1],
        [1, 0, 1.0, 0.25, 1, 0],
        [0] * 6,
    ]
    np.testing.assert_allclose(batch.seen[0, :, :6], expected, rtol=1e-6)
    np.testing.assert_allclose(batch.seen[0, :3, 6], 0.25)
    np.testing.assert_allclose(batch.seen[0, :3, 7], np.log1p(3) / np.log1p(1024), rtol=1e-6)
    assert batch.mask[0].tolist() == [0, 1, 1, 0, 1]


def test_what_rlschedulers_agent_sees() -> None:
    rows = [(0, 50, 50, 4), (0, 10, 25, 1), (0, 20, 80, 2)]
    batch = _alone(workload(4, rows), "none", "schedgym")
    expected = [
        [0, 0.5, 1, 1, 1, 1, 1, 1],
        [0, 0.25, 0.25, 1, 1, 1, 1, 1],
        [0, 0.8, 0.5, 1, 1, 1, 1, 1],
        [0, 1, 1, 1, 1, 1, 1, 0],
    ]
    np.testing.assert_allclose(batch.seen[0], expected, atol=2e-5)
    assert batch.mask[0].tolist() == [1, 1, 1, 0]


def test_longer_queues_show_the_shortest_and_the_narrowest_in_turn() -> None:
    estimates, procs = [9, 1, 2, 8, 7], [1, 4, 4, 2, 3]
    rows = [(0, e, e, p) for e, p in zip(estimates, procs, strict=True)]
    batch = _alone(workload(4, rows), "none", "schedgym", slots=4)
    assert batch.seen[0, :, 1].round(2).tolist() == pytest.approx([0.01, 0.09, 0.02, 0.08])
    batch.actions[0] = 3
    batch.play()
    assert list_of(batch.states[0], START)[:5].tolist() == [-1, -1, -1, 0, -1]


def test_forbidden_actions_are_replaced_and_counted() -> None:
    """Under the free rule by waiting, and by the oldest job where nothing is to come."""
    batch = _alone(workload(4, [(0, 5, 5, 3), (1, 5, 5, 3), (2, 1, 1, 1)]), "free")
    for action in (0, 0, 7, 4, 4):
        batch.actions[0] = action
        batch.play()
    assert batch.outcome(0)[1] == 3
    assert batch.schedule(0, "x").start.tolist() == [0, 5, 10]
    chosen = _alone(workload(4, [(0, 5, 5, 3)]), "none")
    chosen.actions[0] = 2
    chosen.play()
    assert chosen.outcome(0) == (0.0, 1)


def test_a_batch_plays_what_single_environments_do() -> None:
    """Start for start, over several episodes in each place, with new room for larger samples."""
    envs = SchedulingVectorEnv(log(), 3, rule="free", weeks=1, slots=8)
    one = SchedulingEnv(log(), rule="free", weeks=1, slots=8)
    observations, infos = envs.reset(seed=1)
    found: dict[int, float] = {}
    ended = np.zeros(3, np.bool_)
    while len(found) < 9:
        fresh = ended
        samples = infos["sample"]
        actions = np.array([mask.argmax() for mask in infos["action_mask"]])
        observations, rewards, ended, truncated, infos = envs.step(actions)
        assert not truncated.any()
        assert (rewards[fresh] == 0).all()
        assert (infos["sample"][fresh] == samples[fresh] + 3).all()
        for k in np.flatnonzero(ended).tolist():
            found[int(infos["sample"][k])] = float(rewards[k])
            assert infos["value"][k] == -rewards[k]
    assert observations.dtype == np.float32
    assert envs.action_masks().shape == (3, 9)
    assert {sample: played(one, sample)[0] for sample in found} == found


def test_given_samples_follow_each_other() -> None:
    envs = SchedulingVectorEnv(log(), 2, rule="none", samples=3, copy=False)
    _, infos = envs.reset(seed=[2, None])
    seen = [infos["sample"].tolist()]
    while len(seen) < 4:
        infos = envs.step([0, 0])[4]
        if infos["sample"].tolist() != seen[-1]:
            seen.append(infos["sample"].tolist())
    assert all(1 <= number <= 3 for pair in seen for number in pair)
    assert seen[0] == [2, 3]


def test_agents_are_compared_on_the_test_weeks() -> None:
    from schedfarm.analysis import compare

    env = SchedulingEnv(log(), part="test", rule="easy")
    found = evaluate(
        env, {"fcfs+easy": "fcfs+easy", "oldest": lambda seen, mask: 0}, range(1, 7), ["wait"]
    )
    answer = compare(found, metrics=["wait"])
    assert answer["difference"].squeeze().values.tolist() == [0.0, 0.0, 0.0]
    assert int(answer["pairs"].squeeze()) == 6


def test_masks_are_those_of_sb3() -> None:
    env = SchedulingEnv(log())
    _, info = env.reset(seed=1)
    assert env.action_masks().tolist() == (info["action_mask"] > 0).tolist()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"part": "tests"}, "part='tests' is unknown; did you mean 'test'?"),
        ({"train": 1.0}, "train=1.0: give a share of the weeks, above 0 and below 1"),
        ({"weeks": 0}, "weeks=0: give a whole number, at least 1"),
        ({"rule": "eazy"}, "rule='eazy' is unknown"),
        ({"observation": "full"}, "observation='full' is unknown"),
        ({"slots": 0}, "slots=0: give a whole number"),
        ({"reward": "jobs"}, "reward='jobs' is no goal: choose a metric"),
        ({"reward": "user_nuwt"}, "reward='user_nuwt' is no goal"),
        ({"tau": 0.0}, "tau=0.0: give a finite number above 0"),
    ],
)
def test_bad_arguments_are_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as error:
        SchedulingEnv(log(), **given)
    assert said in str(error.value)


def test_what_cannot_be_done_is_refused() -> None:
    env = SchedulingEnv(log(), part="train")
    for act in (lambda: env.workload, env.schedule):
        with pytest.raises(InputError):
            act()
    with pytest.raises(ResetNeeded):
        env.step(0)
    with pytest.raises(InputError, match="learned by heart; evaluate with part='test'"):
        evaluate(env, {"fcfs+easy": "fcfs+easy"}, [1])
    with pytest.raises(InputError, match="has 1 whole weeks; training and test need 1 each"):
        split_weeks(workload(4, [(0, 5, 5, 3)]))
    gap = workload(4, [(0, 5, 5, 3), (3 * WEEK, 5, 5, 3)])
    with pytest.raises(InputError, match="has no job in its weeks from number 3 on"):
        split_weeks(gap)


def test_a_missing_gymnasium_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    for name in [name for name in sys.modules if name.startswith("schedfarm.learning.")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(InputError, match=r"pip install 'schedfarm\[gym\]'"):
        _ = learning.SchedulingEnv
    with pytest.raises(AttributeError, match="has no attribute 'Env'"):
        _ = learning.Env
