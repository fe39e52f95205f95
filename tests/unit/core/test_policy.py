"""The names of policies: what goes together, and what is refused with a sentence."""

from __future__ import annotations

import re

import pytest
from hypothesis import given

from schedfarm.core.errors import InputError
from schedfarm.core.own import sources
from schedfarm.core.policy.options import OPTIONS
from schedfarm.core.policy.policy import Policy
from tests.support.strategies import policies


@given(policy=policies())
def test_parse_and_name_are_inverse(policy: Policy) -> None:
    """A policy prints as a name that gives it again."""
    assert Policy.parse(policy.name) == policy


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("spf+conservative,backfill=saf", "rule 'conservative' .* leave out backfill="),
        ("fcfs+planned,backfill=spf", "backfill=spf is an option of rules 'none'"),
        ("fcfs+planned,threshold=3d", "a threshold, matters with walk=queue only"),
        ("spf+planned", "another order than fcfs, or a threshold, matters with walk=queue only"),
        ("spf+planned,walk=arrival", "matters with walk=queue only"),
        ("fcfs+planned,walk=back", "known: start, arrival, queue"),
        ("fcfs+conservative,walk=arrival", "option of rule 'planned' only"),
        ("fcfs+icsb(10),queue=global", "option of rule 'ics' only"),
        ("fcfs+ics,queue=one", "known: local, global"),
        ("fcfs+depth(0)", "a whole number from 1"),
        ("fcfs+depth(01)", "a whole number from 1"),
        (f"fcfs+depth({10**18})", "a whole number from 1, below"),
        ("fcfs+easy,threshold=3", "'3' is not a duration"),
        ("fcfs+slurm,bf_interval=0s", "a time from 1s to 3h, such as 30s, or off"),
        ("fcfs+slurm,bf_window=off", "a time from 1s to 30d, such as 30s$"),
        ("fcfs+slurm,bf_max_job_test=0", "a whole number from 1 to 1000000"),
        ("fcfs+slurm,bf_max_job_test=5,bf_max_job_user=6", "=6 is above bf_max_job_test=5"),
        ("fcfs+slurm,bf_interval=off,sched_interval=off", "no job starts; leave one of them out"),
        ("fcfs+slurm,bf_interval=off,bf_window=2d", "there are no cycles; leave out bf_window="),
        ("fcfs+slurm,bf_max_time=9s", "limits cycles that take time; add bf_rate="),
        ("fcfs+slurm,events=per-event", "leave out events=per-event"),
        ("fcfs+slurm,backfill=saf", "backfill=saf is an option of rules 'none'"),
        ("fcfs+easy,bf_interval=60s", "bf_interval=1m is an option of rule 'slurm' only"),
    ],
)
def test_parts_that_do_not_go_together(name: str, sentence: str) -> None:
    """The sentence begins with the policy as it was given."""
    with pytest.raises(InputError, match=f"^policy {re.escape(repr(name))}: .*{sentence}"):
        Policy.parse(name)


def test_numbers_too_long_to_read_are_refused() -> None:
    """Python itself would refuse to convert them, with another sentence."""
    nines = "9" * 5000
    for name in (f"fcfs+depth({nines})", f"fcfs+easy,threshold={nines}x"):
        with pytest.raises(InputError, match="whole number"):
            Policy.parse(name)


def test_a_backfill_order_needs_somebody_to_backfill() -> None:
    """Under depth some jobs hold no reservation; under conservative all do."""
    assert Policy.parse("fcfs+depth(4),backfill=spf").backfill == "spf"
    with pytest.raises(InputError, match="none is left to backfill"):
        Policy("fcfs", "conservative", backfill="spf")


def test_a_default_is_written_canonically() -> None:
    """Policies take defaults as they are."""
    for name, row in OPTIONS.items():
        assert row.default is None or row.canonical(name, row.default) == row.default


def test_a_name_is_read_once() -> None:
    """Planning asks for each policy many times."""
    assert Policy.parse("saf+depth(731)") is Policy.parse("saf+depth(731)")


def test_a_name_with_a_users_module_is_read_each_time() -> None:
    """The module may not be there another time."""
    with sources({"mine": "def widest(procs):\n    return -procs\n"}):
        assert Policy.parse("mine:widest+easy").order == "mine:widest"
    with pytest.raises(InputError, match="cannot be imported"):
        Policy.parse("mine:widest+easy")
