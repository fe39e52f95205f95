"""Environments for learning: their episodes, observations, masks and rewards."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env

from schedfarm import learning
from schedfarm.core.errors import InputError
from schedfarm.core.metrics.summary import summarise
from schedfarm.core.stepping.fields import START, list_of
from schedfarm.core.workload.load import scale_load
from schedfarm.core.workload.resample_weeks import WEEK, resample_weekly
from schedfarm.core.workload.workload import Workload
from schedfarm.learning import SchedulingEnv, SchedulingVectorEnv, evaluate, split_weeks
from schedfarm.learning.batch import Batch
from schedfarm.learning.samples import Longest, Samples
from tests.oracles.case import workload
from tests.support.episodes import log, played


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


@pytest.mark.parametrize("load", [None, 0.5])
@pytest.mark.parametrize("observation", ["compact", "schedgym"])
def test_training_does_not_depend_on_the_test_weeks(load: float | None, observation: str) -> None:
    """Where the jobs of the test weeks are 20 times as long, training sees the same."""
    factor = np.where(log().submit - log().submit[0] >= 6 * WEEK, 20, 1)
    other = log().take(
        slice(None), run=log().run * factor, estimate=log().estimate * factor, max_estimate=-1
    )
    seen = []
    for work in (log(), other):
        env = SchedulingEnv(work, load=load, observation=observation, slots=8)
        seen.append([env.reset(seed=1)[0], *(env.step(8)[0] for _ in range(20))])
        seen[-1].append(np.array([env.workload.max_estimate]))
    for one, two in zip(*seen, strict=True):
        np.testing.assert_array_equal(one, two)


def test_test_weeks_are_seen_on_the_scale_of_the_training_weeks() -> None:
    """At the same load; an estimate above all of the training weeks counts as 1."""
    train, test = split_weeks(log(), 0.7)
    assert train.max_estimate == train.estimate.max() != test.max_estimate == test.estimate.max()
    for load in (None, 0.5):
        known = train if load is None else scale_load(train, load)
        env = SchedulingEnv(log(), part="test", load=load, rule="none")
        seen = env.reset(seed=1)[0]
        first = int(env.workload.estimate[0])
        assert first != known.max_estimate
        expected = min(np.log1p(first) / np.log1p(known.max_estimate), 1.0)
        assert seen[0, 2] == pytest.approx(expected, rel=1e-6)
    beyond = workload(4, [(0, 9, 9, 1), (WEEK, 50, 50, 1), (2 * WEEK - 1, 5, 5, 1)])
    seen = SchedulingEnv(beyond, part="test", train=0.5).reset(seed=1)[0]
    assert seen[0, 2] == 1.0


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


@pytest.mark.parametrize("rule", ["none", "easy"])
def test_the_reward_is_the_metric_of_the_schedule(rule: str) -> None:
    """The exhaustive tier compares the schedules with those of policies."""
    for name, sign in (("bounded_slowdown", -1), ("wait", -1), ("utilisation", 1)):
        env = SchedulingEnv(log(), rule=rule, reward=name, tau=60.0)
        reward, info = played(env, 2)
        assert (
            reward
            == sign * info["value"]
            == sign * summarise(env.schedule(), 60.0, names=[name])[name]
        )
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
    samples = Samples(work, "train", None, Longest(run=100, estimate=work.max_estimate), 1, 1)
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


@pytest.mark.parametrize("action", [-1, -2, -3, 9, 1.7, float("nan"), None, True, np.array([1])])
def test_actions_outside_the_space_are_refused(action: Any) -> None:
    """They are codes of the kernel, or of nothing; the environment stays where it is."""
    env = SchedulingEnv(log(), slots=8)
    envs = SchedulingVectorEnv(log(), 2, slots=8)
    env.reset(seed=1)
    envs.reset(seed=1)
    before = env._batch.states.copy()
    with pytest.raises(InputError, match=r"^action=.*: give a whole number, at least 0 and at m"):
        env.step(action)
    assert (env._batch.states == before).all()
    given = np.empty(2, object)
    given[:] = 0, action
    with pytest.raises(InputError, match=r"^actions\[1\]=.*: give a whole number, at least 0 and"):
        envs.step(given)
    with pytest.raises(InputError, match=r"^actions\[0\]=0.5: give a whole number, at least 0 and"):
        envs.step([0.5, 0.0])
    with pytest.raises(InputError, match=r"actions have shape \(\); give one for each environment"):
        envs.step(0)


def test_whole_numbers_of_numpy_are_actions() -> None:
    envs = [SchedulingEnv(log(), slots=8) for _ in range(3)]
    for env in envs:
        env.reset(seed=np.int64(1))  # type: ignore[arg-type]
    seen = [env.step(a)[0] for env, a in zip(envs, (0, np.int32(0), np.array(0)), strict=True)]
    assert (seen[0] == seen[1]).all()
    assert (seen[0] == seen[2]).all()


def test_a_batch_starts_with_the_samples_of_its_seed() -> None:
    fresh = SchedulingVectorEnv(log(), 2, slots=8)
    with pytest.raises(ResetNeeded, match="no sample was started yet"):
        fresh.step([0, 0])
    assert fresh.reset()[1]["sample"].tolist() == [1, 2]
    assert fresh.reset()[1]["sample"].tolist() == [3, 4]
    assert SchedulingEnv(log()).reset()[1]["sample"] == 1
    for seed, samples in ((np.int64(3), [3, 4]), (np.array([7, 5]), [7, 5]), ([9, None], [9, 7])):
        assert fresh.reset(seed=seed)[1]["sample"].tolist() == samples  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("seed", "said"),
    [
        ([3], "seed has 1 numbers; give one for each of the 2 environments"),
        ([3, -1], "seed[1]=-1: give a whole number, at least 0"),
        (3.0, "seed=3.0: give a whole number, at least 0"),
        (-1, "seed=-1: give a whole number, at least 0"),
        (2**63, "seed=9223372036854775808: give a whole number, at least 0 and at most"),
    ],
)
def test_bad_seeds_are_refused(seed: Any, said: str) -> None:
    with pytest.raises(InputError) as error:
        SchedulingVectorEnv(log(), 2).reset(seed=seed)
    assert said in str(error.value)
    if not isinstance(seed, list):
        with pytest.raises(InputError) as error:
            SchedulingEnv(log()).reset(seed=seed)
        assert said in str(error.value)


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
    assert seen[0] == [2, 2]


def test_agents_play_the_same_samples() -> None:
    env = SchedulingEnv(log(), part="test", rule="easy", tau=60.0)
    agents = {"oldest": lambda seen, mask: 0, "first": lambda seen, mask: int(mask.argmax())}
    found = evaluate(env, agents, range(1, 7))["bounded_slowdown"].squeeze()
    expected = [-played(env, sample)[0] for sample in range(1, 7)]
    assert found.sel(policy="oldest").values.tolist() == expected
    assert found.sel(policy="first").values.tolist() == expected


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
        ({"reward": "jobs"}, "reward='jobs' is not a goal: choose a metric"),
        ({"reward": "user_nuwt"}, "reward='user_nuwt' is not a goal"),
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
    with pytest.raises(
        InputError, match="only memorisation of the training weeks; evaluate with part='test'"
    ):
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
