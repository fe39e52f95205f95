"""What a log says of a job beside: read, chosen by, and never in the way."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from schedfarm.core import (
    Clean,
    InputError,
    Workload,
    read_swf,
    resample_weekly,
    scale_load,
    select,
)
from schedfarm.core.workload.columns import NOT_STORED
from schedfarm.core.workload.load import scale_arrivals
from schedfarm.core.workload.resample_blocks import resample_blocks
from schedfarm.core.workload.resample_users import resample_users
from schedfarm.core.workload.select import check_criteria
from schedfarm.farm.store.logs import load_log, log_bytes

pytestmark = pytest.mark.usefixtures("swf_cache")

SWF = """; MaxProcs: 8
1 0 44 10 2 -1 -1 -1 20 -1 1 5 3 -1 1 14 -1 -1
2 5 -1 10 2 -1 -1 -1 20 -1 1 5 4 -1 2 -1 -1 -1
"""

SAID: dict[str, Any] = {
    "group": [1, 2, 1],
    "queue": [5, -1, 5],
    "partition": [1, 1, 2],
    "nodes": [1, 4, 2],
    "logged_wait": [0, 9, -1],
}


def three(**changes: Any) -> Workload:
    given: dict[str, Any] = {
        "submit": [0, 600_000, 1_200_000],
        "run": [9, 8, 7],
        "estimate": [9, 9, 9],
        "procs": [1, 2, 3],
        "user": [7, 8, 7],
        "processors": 4,
        "names": {"group": {1: "physics", 2: "7"}},
    }
    return Workload.from_columns(**(given | SAID | changes))


def test_swf_says_wait_group_queue_and_partition(tmp_path: Path) -> None:
    """Fields 3, 13, 15 and 16; again from the cache."""
    path = tmp_path / "log.swf"
    path.write_text(SWF)
    w = read_swf(path)
    assert (w.logged_wait.tolist(), w.group.tolist()) == ([44, -1], [3, 4])
    assert (w.queue.tolist(), w.partition.tolist()) == ([1, 2], [14, -1])
    assert w.nodes.tolist() == [-1, -1]


def test_a_cached_log_says_the_same(tmp_path: Path) -> None:
    """Whether it was parsed or found."""
    rows = "".join(
        f"{j} {j} {j % 9} 10 2 -1 -1 -1 20 -1 1 5 3 -1 {j % 3} 14 -1 -1\n" for j in range(1, 2_000)
    )
    path = tmp_path / "big.swf"
    path.write_text("; MaxProcs: 8\n" + rows)
    first, again = read_swf(path), read_swf(path)
    for name in NOT_STORED:
        assert getattr(first, name).tolist() == getattr(again, name).tolist()
    assert again.queue[:3].tolist() == [1, 2, 0]
    assert again.logged_wait[8:10].tolist() == [0, 1]


def test_the_digest_does_not_count_them() -> None:
    """Stores know their logs by it, and were made before they were read."""
    assert three().digest() == three(**dict.fromkeys(SAID)).digest()
    assert three().digest() == dataclasses.replace(three(), names={}).digest()


def test_a_stored_log_has_those_that_are_filled_and_no_names(tmp_path: Path) -> None:
    """What the log does not say costs nothing."""
    full, few = log_bytes(three()), log_bytes(three(**{**dict.fromkeys(SAID), "queue": [1, 1, 1]}))
    assert b"physics" not in full
    (tmp_path / "full.npz").write_bytes(full)
    (tmp_path / "few.npz").write_bytes(few)
    with np.load(tmp_path / "few.npz", allow_pickle=False) as file:
        assert {*file} & {*NOT_STORED} == {"queue"}
    back = load_log((tmp_path / "full.npz").read_bytes())
    assert {name: getattr(back, name).tolist() for name in SAID} == SAID
    assert back.names == {}


@pytest.mark.parametrize("draw", [resample_weekly, resample_blocks, resample_users])
def test_drawn_jobs_keep_what_they_are_and_lose_their_wait(draw: Any) -> None:
    """A job of another week waits for other jobs."""
    drawn = draw(three(), seed=3, index=1, weeks=30)
    assert len(drawn) > 9
    for name in ("group", "queue", "partition", "nodes"):
        assert (getattr(drawn, name) == np.array(SAID[name])[drawn.job - 1]).all()
    assert (drawn.logged_wait == -1).all()
    assert drawn.names == three().names


@pytest.mark.parametrize("scale", [scale_load, scale_arrivals])
def test_another_load_is_not_as_it_was(scale: Any) -> None:
    """Nobody waited there."""
    scaled = scale(three(), 0.5)
    assert scaled.partition.tolist() == SAID["partition"]
    assert (scaled.logged_wait == -1).all()


@pytest.mark.parametrize(
    ("criteria", "jobs", "dropped"),
    [
        ({"partitions": [2]}, [3], {"other partitions": 2}),
        ({"queues": ["5"]}, [1, 3], {"other queues": 1}),
        ({"groups": ["physics"]}, [1, 3], {"other groups": 1}),
        ({"groups": ["physics", 2]}, [1, 2, 3], {}),
        ({"groups": ["7"]}, [2], {"other groups": 2}),
        ({"users": [8]}, [2], {"other users": 2}),
        ({"nodes": [2, 3]}, [3], {"outside nodes": 2}),
        ({"nodes": [1, 2], "partitions": [1]}, [1], {"other partitions": 1, "outside nodes": 1}),
    ],
)
def test_jobs_are_chosen_by_name_or_number(
    criteria: dict[str, Any], jobs: list[int], dropped: dict[str, int]
) -> None:
    """A name of the log goes before a number; what is left out is counted."""
    chosen = select(three(), **criteria)
    assert (chosen.job.tolist(), dict(chosen.dropped)) == (jobs, dropped)


def chosen(criteria: dict[str, Any]) -> Workload:
    check_criteria(criteria)
    return select(three(), **criteria)


@pytest.mark.parametrize(
    ("criteria", "said"),
    [
        ({"groups": ["chem"]}, "groups: workload 'workload' has none called 'chem'; known: phys"),
        ({"partitions": [3]}, "partitions: workload 'workload' has none called 3; known: 1, 2"),
        ({"partitions": "gpu"}, "partitions='gpu': give a list of names or numbers, such as"),
        ({"queues": []}, "queues=[]: give a list of names or numbers"),
        ({"queues": [True]}, "queues=[True]: give a list of names or numbers"),
        ({"nodes": [3, 2]}, "nodes=[3, 2]: the second number is too small"),
        ({"accounts": ["a"]}, "'accounts' is not a criterion of selection; known: weeks, dates, "),
    ],
)
def test_a_wrong_choice_is_one_sentence(criteria: dict[str, Any], said: str) -> None:
    """With what there is."""
    with pytest.raises(InputError) as refusal:
        chosen(criteria)
    assert said in str(refusal.value)


@pytest.mark.parametrize("criteria", [{"partitions": [1]}, {"nodes": [1, 2]}, {"users": [7]}])
def test_a_log_that_does_not_say_it_cannot_be_chosen_from(criteria: dict[str, Any]) -> None:
    """Rather than no job is left."""
    silent = three(**dict.fromkeys(SAID), user=None)
    with pytest.raises(InputError, match="the log of workload 'workload' has no"):
        select(silent, **criteria)


def test_rows_of_unknown_wait_can_be_left_out(tmp_path: Path) -> None:
    """And are counted."""
    path = tmp_path / "log.swf"
    path.write_text(SWF)
    w = read_swf(path, clean=Clean(no_wait="drop"))
    assert (w.job.tolist(), dict(w.dropped)) == ([1], {"no wait": 1})
    with pytest.raises(InputError, match="submit = 'eligible' needs a column Eligible"):
        read_swf(path, clean=Clean(submit="eligible"))
