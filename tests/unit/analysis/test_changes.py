"""Who gains and who loses under another policy, against sums made job by job."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

from schedfarm import farm
from schedfarm.analysis import StoreError, TooFewSamplesError, changes, changes_text
from schedfarm.core import Workload, write_swf
from tests.support.command_line import run_farm

FCFS, SPF = "fcfs+easy", "spf+easy"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of 300 jobs of six users and an unknown one over four weeks, and three samples."""
    folder = tmp_path_factory.mktemp("changes")
    rng = np.random.default_rng(5)
    estimate = rng.integers(10, 90_000, 300)
    log = Workload.from_columns(
        submit=np.sort(rng.integers(0, 4 * 604_800, 300)),
        run=rng.integers(0, estimate + 1),
        estimate=estimate,
        procs=rng.integers(1, 17, 300),
        user=rng.choice([-1, 1, 2, 3, 5, 8, 13], 300),
        processors=16,
    )
    write_swf(log, folder / "log.swf")
    campaign = farm.Campaign(
        name="changes",
        traces=(farm.Trace(name="own", file=str(folder / "log.swf")),),
        policies=(FCFS, SPF),
        loads=("original", 1.5),
        resamples=3,
        log=True,
    )
    farm.run(campaign, folder / "store")
    return folder / "store"


def by_hand(store: Path, resample: int, load: str) -> dict[int, list[float]]:
    """Waits of each user's jobs under both policies, added up one job at a time."""
    group = xr.open_zarr(store / "results.zarr", group="own", chunks=None)
    sample = group.sel(resample=resample, load=load)
    users = sample["job_user"].values
    waits = [sample["wait"].sel(policy=policy).values for policy in (FCFS, SPF)]
    sums: dict[int, list[float]] = defaultdict(lambda: [0, 0.0, 0.0])
    for job in range(int(sample["jobs"])):
        entry = sums[int(users[job])]
        entry[0] += 1
        for place, wait in enumerate(waits, start=1):
            entry[place] += float(wait[job])
    return sums


def test_changes_are_means_over_the_samples_with_jobs_of_the_user(store: Path) -> None:
    """Not of the log, which stands beside; users unknown are a group, too."""
    found = changes(store, "own", SPF, FCFS, load="1.5")
    samples = [by_hand(store, resample, "1.5") for resample in (1, 2, 3)]
    log = by_hand(store, 0, "1.5")
    assert {"unknown", "13"} <= set(found.index)
    for user, row in found.iterrows():
        number = -1 if user == "unknown" else int(str(user))
        there = [s[number] for s in samples if number in s]
        change = [(spf - fcfs) / jobs for jobs, fcfs, spf in there]
        assert row["change"] == pytest.approx(np.mean(change))
        assert (row["least"], row["most"]) == pytest.approx((min(change), max(change)))
        assert (row["loses"], row["of"]) == (sum(x > 0 for x in change), len(there))
        jobs, fcfs, spf = log[number]
        assert row["log"] == pytest.approx((spf - fcfs) / jobs)
    lost = [
        sum(s[n][2] - s[n][1] for s in samples if n in s)
        for n in (-1 if user == "unknown" else int(user) for user in found.index)
    ]
    assert lost == sorted(lost, reverse=True)
    assert lost[0] > lost[-1]


def test_shares_are_of_all_jobs(store: Path) -> None:
    for by in ("user", "width", "run", "estimate"):
        found = changes(store, "own", SPF, FCFS, by, load="original")
        if (found["of"] == 3).all():
            assert found["jobs"].sum() == pytest.approx(1)
            assert found["work"].sum() == pytest.approx(1)
    assert list(changes(store, "own", SPF, FCFS, "width", load="original").index) == [
        "1", "2", "3-4", "5-8", "9-16",
    ]  # fmt: skip


def test_slowdown_is_bounded_by_the_campaigns_tau(store: Path) -> None:
    """The mean over all jobs is that of the summary."""
    found = changes(store, "own", SPF, FCFS, "run", load="1.5", metric="bounded_slowdown")
    summary = xr.open_zarr(store / "results.zarr", chunks=None).sel(trace="own", load="1.5")
    log = summary["bounded_slowdown"].sel(resample=0)
    alone = changes(
        _only_log(store), "own", SPF, FCFS, "run", load="1.5", metric="bounded_slowdown"
    )
    assert (alone["after"] * alone["jobs"]).sum() == pytest.approx(float(log.sel(policy=SPF)))
    assert found.attrs["samples"] == 3


def _only_log(store: Path) -> xr.DataTree:
    from schedfarm.analysis import open_tree

    tree = open_tree(store)
    groups = {"/": tree.to_dataset(), "/own": tree["own"].to_dataset(inherit=False)}
    return xr.DataTree.from_dict({k: ds.isel(resample=[0]) for k, ds in groups.items()})


def test_a_log_alone_is_the_one_sample(store: Path) -> None:
    found = changes(_only_log(store), "own", SPF, FCFS, load="1.5")
    assert (found["change"] == found["log"]).all()
    text = changes_text(found)
    assert "the log itself" in text.splitlines()[0]
    assert "loses in" not in text


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"policy": "sfp+easy"}, "unknown policy 'sfp+easy'"),
        ({"by": "colour"}, "unknown group 'colour'; known: user, width, run, estimate, group"),
        ({"load": "0.8"}, "unknown load '0.8'"),
        ({"metric": "response"}, "unknown metric of a job 'response'; known: wait, bounded_slow"),
        ({"baseline": SPF}, "a change is between two"),
    ],
)
def test_what_is_not_there_is_one_sentence(store: Path, asked: dict[str, Any], said: str) -> None:
    given = {"trace": "own", "policy": SPF, "baseline": FCFS, "load": "1.5", **asked}
    with pytest.raises(StoreError, match=re.escape(said)):
        changes(store, **given)


def test_labels_may_be_spelt_otherwise(store: Path) -> None:
    found = changes(store, "own", "SJF+easy", FCFS, load=1.5)
    assert found.equals(changes(store, "own", SPF, FCFS, load="1.5"))


def test_what_only_the_log_says_groups_as_well(tmp_path: Path) -> None:
    """Partitions are in the store's copy of the log alone; names, where they were asked for."""
    names = ["short", "long"]
    rows = [
        f"{i}|ann|2024-01-01T{i // 60:02}:{i % 60:02}:00|2024-01-02T00:00:00|2024-01-02T01:00:00"
        f"|{(i % 5 + 1) * 10}:00|{(i % 5 + 1) * 10}:00|4|{names[i % 2]}|COMPLETED"
        for i in range(1, 61)
    ]
    head = "JobID|User|Submit|Start|End|Elapsed|Timelimit|ReqCPUS|Partition|State"
    (tmp_path / "log.sacct").write_text("\n".join([head, *rows]) + "\n")
    trace = farm.Trace(name="own", file=str(tmp_path / "log.sacct"), processors=8, names=True)
    campaign = farm.Campaign(name="parts", traces=(trace,), policies=(FCFS, SPF))
    farm.run(campaign, tmp_path / "store")
    printed = run_farm("who", tmp_path / "store", "--by", "partition", "--json").stdout
    (facts,) = json.loads(printed)
    assert {group["partition"]: group["jobs"] for group in facts["groups"]} == {
        "short": 0.5, "long": 0.5,
    }  # fmt: skip
    group = xr.open_zarr(tmp_path / "store" / "results.zarr", group="own", chunks=None)
    waits = group["wait"].isel(resample=0, load=0).sel(policy=SPF).values
    # Jobs stand by submit, so even ones are the log's odd ones.
    means = {group["partition"]: group["after"] for group in facts["groups"]}
    assert means == pytest.approx({"long": waits[::2].mean(), "short": waits[1::2].mean()})
    with pytest.raises(StoreError, match="has no 'queue' of its jobs"):
        changes(tmp_path / "store", "own", SPF, FCFS, "queue", load="original")


def test_cells_that_are_not_there_do_not_count(store: Path) -> None:
    tree = _only_log(store)
    group = tree["own"].to_dataset(inherit=False).load()
    group["wait"][:] = -1
    empty = xr.DataTree.from_dict({"/": tree.to_dataset(), "/own": group})
    with pytest.raises(TooFewSamplesError, match="run the campaign first"):
        changes(empty, "own", SPF, FCFS, load="1.5")


def test_command_shows_the_first_and_writes_all(store: Path, tmp_path: Path) -> None:
    csv = tmp_path / "who.csv"
    done = run_farm("who", store, "--top", 2, "--csv", csv)
    assert done.stdout.count("the first 2 of ") == 2
    found = changes(store, "own", SPF, FCFS, load="original")
    lines = csv.read_text().splitlines()
    head = "trace,load,policy,baseline,metric,units,user,jobs,work,before,after,change"
    assert lines[0].startswith(head)
    assert sum(line.startswith("own,original,") for line in lines) == len(found)
    as_json = run_farm("who", store, "--load", 1.5, "--json")
    (facts,) = json.loads(as_json.stdout)
    assert (facts["policy"], facts["baseline"], facts["units"]) == (SPF, FCFS, "s")
    assert facts["groups"][0]["user"] == changes(store, "own", SPF, FCFS, load="1.5").index[0]
