"""Windows at dates: the instants that they get from the log's epoch, and refused values."""

from __future__ import annotations

import tomllib
from itertools import product
from typing import Any

import pytest

from schedfarm.core import InputError, Workload
from schedfarm.core.workload.dated_windows import at_epoch
from schedfarm.core.workload.on_partitions import OnPartitions, put_on_partitions
from schedfarm.core.workload.on_resources import OnResources, put_on_resources

MARCH = 1_709_596_800
"""Unix time of 2024-03-05."""

DAY = 86_400


def log(epoch: int, **more: Any) -> Workload:
    made = Workload.from_columns(
        submit=[0, 9], run=[5, 5], estimate=[5, 5], procs=[1, 2], processors=4, **more
    )
    return made.take(slice(None), epoch=epoch)


def resources(text: str) -> OnResources:
    return OnResources.from_dict(tomllib.loads(f"windows = [{{{text}}}]"))


@pytest.mark.parametrize(
    "text",
    [
        'from = "2024-03-05T06:00", until = "2024-03-06"',
        'from = "2024-03-05 06:00:00", until = "2024-03-06T02:00+02:00"',
        "from = 2024-03-05T06:00:00, until = 2024-03-06",
        "from = 2024-03-05T06:00:00Z, until = 2024-03-06T02:00:00+02:00",
    ],
)
def test_dates_become_instants_of_the_log(text: str) -> None:
    """As text or as TOML's own dates; the plain form holds text, for the copy in a store."""
    how = resources(text)
    (window,) = how.to_dict()["windows"]
    assert isinstance(window["from"], str)
    assert OnResources.from_dict(how.to_dict()) == how
    machine = put_on_resources(log(MARCH - 100), how).platform
    assert [(w["from"], w["until"]) for w in machine.to_dict()["configuration"]["windows"]] == [
        (6 * 3_600 + 100, DAY + 100)
    ]


def test_the_beginning_of_a_log_cuts_repeated_windows() -> None:
    """Every instant from 0 on is withheld as often as by the intervals listed one by one."""
    for begin, length, every, times in product((-35, -30, -8, 0, 4), (5, 10), (10, 13), (1, 2, 4)):
        window = {"from": "1970-01-02", "until": "1970-01-02", "every": every, "times": times}
        # Intervals of seconds, which dates reach by their fractions of a day.
        window["from"] = f"1970-01-02T00:00:{begin + 35:02d}"
        window["until"] = f"1970-01-02T00:00:{begin + 35 + length:02d}"
        found = at_epoch("", [window], DAY + 35)
        held = [
            (one["from"] + k * one.get("every", 0), one["until"] + k * one.get("every", 0))
            for one in found
            for k in range(one.get("times", 1))
        ]
        ends = [(begin + k * every, begin + k * every + length) for k in range(times)]
        assert held == [(max(a, 0), b) for a, b in ends if b > 0]


def test_windows_before_the_log_are_left_out() -> None:
    """The machine is a pool without them, and has its other resources with some."""
    past = 'from = "2020-03-05", until = "2020-03-06"'
    jobs = log(MARCH)
    assert put_on_resources(jobs, resources(past)).platform == jobs.platform
    limited = OnResources.from_dict({"gpus": 4, "windows": tomllib.loads(f"w = [{{{past}}}]")["w"]})
    assert put_on_resources(jobs, limited).platform.to_dict()["configuration"]["capacities"] == {
        "gpus": 4
    }


def test_equal_dates_have_one_text() -> None:
    """A campaign with the same date in another form is the same."""
    texts = (
        'from = 2024-03-05, until = "2024-03-06T00:00"',
        'from = "2024-03-05", until = 2024-03-06',
    )
    first, second = (resources(text).to_dict() for text in texts)
    assert first == second


def test_partitions_have_windows_at_dates() -> None:
    """Next to others by seconds, which stay as they are."""
    how = OnPartitions.from_dict(
        {
            "regions": {"a": 2, "b": 2},
            "windows": [
                {"from": "2024-03-05", "until": "2024-03-06", "regions": {"a": 1}},
                {"from": 5, "until": 9},
            ],
        }
    )
    named: Any = {"partition": [1, 2], "names": {"partition": {1: "a", 2: "b"}}}
    windows = put_on_partitions(log(MARCH - 70, **named), how).platform.to_dict()["configuration"]
    assert [(one["from"], one["until"]) for one in windows["windows"]] == [(5, 9), (70, DAY + 70)]
    with pytest.raises(InputError, match="from 7 s on, they withhold more processors of a in tot"):
        put_on_partitions(log(MARCH - 7, **named), how)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('from = "2024-03-05", until = "2d"', "until = '2d' and a date; give both ends as dates"),
        ('from = "2024-13-05", until = "2024-03-06"', "from is '2024-13-05', which is not a date"),
        ('from = "1969-03-05", until = "2024-03-06"', "not a date since 1970"),
        ('from = "2024-03-07", until = "2024-03-06"', "until must be later than from"),
        ('from = "-5d", until = "2d"', "give seconds from the log's beginning, or a duration"),
        ("from = 2024-03-05", "until = None and a date"),
        ("from = 07:00:00, until = 08:00:00", "give seconds from the log's beginning"),
    ],
)
def test_wrong_dates_are_refused_before_the_log_is_read(text: str, expected: str) -> None:
    with pytest.raises(InputError, match="windows") as caught:
        resources(text)
    assert expected in str(caught.value)


def test_a_log_without_dates_is_refused() -> None:
    how = resources('from = "2024-03-05", until = "2024-03-06"')
    with pytest.raises(InputError, match=r"windows\[0\] is from 2024-03-05T00:00:00, and the log"):
        put_on_resources(log(-1), how)
