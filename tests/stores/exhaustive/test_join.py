"""Logs that are joined as the clusters of a network, from a campaign's file on."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tomli_w

from schedfarm import farm
from schedfarm.core import InputError, read_log, simulate, write_swf
from schedfarm.core.models.poisson import poisson
from schedfarm.core.workload.on_network import OnNetwork, join_logs
from schedfarm.core.workload.resample_weeks import whole_weeks
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.samples import Samples
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.execution.run import begin
from schedfarm.farm.execution.worker import run_task
from schedfarm.farm.logs import registry
from schedfarm.farm.planning.survey import survey_of
from schedfarm.farm.store.logs import load_log, log_bytes
from schedfarm.farm.store.reading import schedule_of
from schedfarm.farm.verify import Again, verify
from tests.support.harness import assert_same_results
from tests.support.refusals import Said

SIZES, WEEKS, NAMES = (64, 32), (4, 3), ("north", "south")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two logs, of four weeks and of three."""
    folder = tmp_path_factory.mktemp("site")
    for size, weeks, name in zip(SIZES, WEEKS, NAMES, strict=True):
        w = poisson(size, weeks=weeks, seed=size, per_week=40, users=4, most=20)
        write_swf(w, folder / f"{name}.swf")
    return folder


def plain(**keys: Any) -> dict[str, Any]:
    trace = {"name": "both", "join": ["north.swf", "south.swf"], **keys.pop("trace", {})}
    fixed = {"name": "joined", "policies": ["fcfs+isolated(10)"], "resamples": 2, "log": True}
    return {**fixed, "traces": [trace], **keys}


def written(folder: Path, campaign: dict[str, Any]) -> Path:
    path = folder / "joined.toml"
    path.write_text(tomli_w.dumps(campaign))
    return path


def test_a_campaign_joins_files(site: Path) -> None:
    """Paths are relative to the campaign's folder; the campaign's own text leads back to it."""
    network = {"links": [1_000, 2_000], "bandwidth": 3}
    campaign = Campaign.from_toml(written(site, plain(trace={"network": network})))
    trace = campaign.traces[0]
    assert trace.join == (str(site / "north.swf"), str(site / "south.swf"))
    w = trace.read()
    assert w is not None
    logs = [read_log(site / f"{name}.swf") for name in NAMES]
    assert w.digest() == join_logs(logs, NAMES, OnNetwork.from_dict(network)).digest()
    assert w.platform.places == NAMES
    assert w.platform.sizes == SIZES
    again = written(site, campaign.to_dict())
    assert Campaign.from_toml(again) == campaign
    assert campaign.located().to_toml() == campaign.to_toml()


def test_logs_are_selected_and_cleaned_one_by_one(site: Path) -> None:
    """Weeks are those of each log; the first jobs are those of all."""
    keys = {"select": {"weeks": [1, 3]}, "clean": {"kill": False}, "jobs": 50}
    trace = Trace.from_dict(plain(trace=keys)["traces"][0], site)
    w = trace.read()
    assert w is not None
    assert len(w) == 50
    assert set(w.origin.tolist()) == {0, 1}
    assert w.submit[0] == 0
    whole = Trace.from_dict(plain(trace={"select": {"weeks": [1, 3]}})["traces"][0], site).read()
    assert whole is not None
    assert whole_weeks(whole.submit) == 2
    assert len(w) + sum(w.dropped.values()) == sum(len(read_log(site / f"{n}.swf")) for n in NAMES)


def test_samples_keep_clusters_and_loads(site: Path) -> None:
    """A pure function of seed, number and load; weeks, users and jobs reach as far as they are."""
    c = Campaign.from_toml(written(site, plain(loads=["original", 0.9])))
    trace, w = c.traces[0], c.traces[0].read()
    assert w is not None
    for load in c.loads:
        one, two = (Samples(trace, w, {**c.settings, "seed": 1}).at(2, load) for _ in range(2))
        assert one.digest() == two.digest()
        assert one.platform == w.platform
        assert np.array_equal(one.job % 2, one.origin)
    found = survey_of(trace, c)
    assert found.weeks == {load: (3, 3) for load in c.loads}
    assert set(found.users) == set(w.user.tolist())


def test_the_store_keeps_the_joined_log(site: Path) -> None:
    """With its network, origins and what jobs ask for."""
    w = Trace.from_dict(plain()["traces"][0], site).read()
    assert w is not None
    back = load_log(log_bytes(w))
    assert back.digest() == w.digest()
    assert back.platform == w.platform
    assert np.array_equal(back.origin, w.origin)


@pytest.mark.usefixtures("traces_cache")
def test_named_logs_are_found_and_thanked(tmp_path: Path, traces: Path) -> None:
    """By their short names; a folder of the same name here is not the log."""
    trace = Trace(name="two", join=("kth-sp2", "METACENTRUM"))
    full = [registry.find(name) for name in ("KTH-SP2", "METACENTRUM")]
    names = [entry.name for entry in full if entry]
    assert trace.join == tuple(names)
    assert trace.files == ()
    located = trace.located(traces)
    assert located.files == tuple(str(traces / f"{name}.swf.gz") for name in names)
    assert located == trace
    assert located.to_dict() == trace.to_dict()
    w = located.read()
    assert w is not None
    assert w.platform.places == ("KTH-SP2", "METACENTRUM")
    assert w.platform.sizes == (100, 806)
    assert located.acknowledgement() == "; ".join(entry.acknowledge for entry in full if entry)


def run_of(site: Path) -> Campaign:
    """Return a campaign on the joined logs, beside one on a model of a network."""
    keys = {"select": {"weeks": [0, 2]}, "network": {"links": 60_000}}
    campaign = plain(trace=keys, policies=["fcfs+isolated(3)", "fcfs+ics"], loads=["original", 1.2])
    per_week = {"per_week": [60, 30], "most": 30}
    model = {"name": "m", "model": "participants", "weeks": 1, "platform": NETWORK}
    campaign["traces"].append({**model, "parameters": per_week})
    return Campaign.from_toml(written(site, campaign))


@pytest.fixture(scope="module")
def sound(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that nothing happened to."""
    path = tmp_path_factory.mktemp("sound") / "store"
    assert farm.run(run_of(site), path).failed == 0
    return path


def test_interrupted_and_resumed__is_the_same_store(
    site: Path, sound: Path, tmp_path: Path
) -> None:
    """What was done before stays, and the whole is that of an undisturbed run."""
    with begin(run_of(site), tmp_path / "store") as prepared:
        tasks = prepared.tasks
        assert len(tasks) >= 2
        for task in tasks[: len(tasks) // 2]:
            run_task(task)
    outcome = farm.run(run_of(site), tmp_path / "store")
    assert outcome.failed == 0
    assert_same_results(tmp_path / "store", sound)


def test_a_store_of_joined_logs_is_sound(sound: Path) -> None:
    """All cells are simulated again, from the store's own copy of the jobs."""
    assert list(verify(sound, Again(100))) == []
    places = {path.name for path in (sound / "traces").iterdir()}
    assert len(places) == 1


def test_cells_are_those_of_the_campaign(site: Path, sound: Path) -> None:
    """A cell's jobs and schedule, of a log's resample and of a model, as simulated here."""
    c = run_of(site)
    for trace in c.traces:
        log = trace.read()
        jobs = Samples(trace, log, c.settings).at(2, "1.2")
        cell = schedule_of(sound, trace=trace.name, policy="fcfs+ics", resample=2, load="1.2")
        assert cell.workload.digest() == jobs.digest()
        assert cell.digest() == simulate(jobs, "fcfs+ics").digest()
        assert set(jobs.origin.tolist()) == {0, 1}


def test_another_network_is_another_trace(site: Path, sound: Path, tmp_path: Path) -> None:
    """What links carry and what jobs ask of them is part of what a store was made from."""
    store = shutil.copytree(sound, tmp_path / "store")
    for change in ({"links": 60_001}, {"links": 60_000, "computation": 0.5}):
        given = run_of(site).to_dict()
        given["traces"][0]["network"] = change
        with pytest.raises(InputError, match="trace 'both' differs from the one of the store"):
            farm.run(Campaign.from_dict(given, site), store)


NETWORK = {"name": "network", "configuration": {"clusters": [64, 32], "names": ["a", "b"]}}
MODEL = {"name": "m", "model": "participants", "weeks": 2, "platform": NETWORK}


def on(**changes: Any) -> dict[str, Any]:
    """Return a platform that is a network with another configuration."""
    return {**NETWORK, "configuration": {**NETWORK["configuration"], **changes}}  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("trace", "words"),
    [
        ({**MODEL, "parameters": {"most": 97}}, ("'m'", "most=97", "at most the 96 processors")),
        ({**MODEL, "platform": on(links=[5, 0])}, ("'m'", "links holds 0", "at least 1 kbit/s")),
        ({**MODEL, "parameters": {"computation": 1.1}}, ("'m'", "computation is 1.1", "0 to 1")),
        ({**MODEL, "parameters": {"computation": -0.1}}, ("'m'", "computation is -0.1", "0 to 1")),
        ({**MODEL, "parameters": {"per_week": [5, 0]}}, ("'m'", "per_week=0", "above 0")),
        ({**MODEL, "parameters": {"per_week": [5]}}, ("'m'", "per_week=[5]", "2, one for each")),
        ({**MODEL, "parameters": {"per_weak": 5}}, ("'per_weak'", "did you mean 'per_week'")),
        ({**MODEL, "parameters": {"users": [5, 5]}}, ("'m'", "users=[5, 5]", "a number or a name")),
        ({**MODEL, "network": {}}, ("'m'", "'network' is for logs only")),
        (
            {**MODEL, "model": "lublin"},
            ("'m'", "model 'lublin' draws the jobs of one pool", "give model = 'participants'"),
        ),
        (
            {"name": "m", "model": "participants", "weeks": 2, "processors": 64},
            ("'m'", "the platform is a pool", "name = 'network'"),
        ),
        ({"join": []}, ("join is []", "a list of logs")),
        ({"join": "north.swf"}, ("join is 'north.swf'", "a list of logs")),
        ({"join": [5]}, ("join is [5]", "a list of logs")),
        ({"join": ["north.swf", "north.swf"]}, ("names holds 'north' twice",)),
        ({"join": ["north.swf", "east.swf"]}, ("trace 'both': ", "east.swf", "cannot read")),
        ({"join": ["north.swf", "KTH-SPP2"]}, ("KTH-SPP2",)),
        ({"file": "north.swf"}, ("one of 'file', 'log', 'model' and 'join'",)),
        ({"processors": 64}, ("'join' makes a cluster of each log; leave 'processors' out",)),
        ({"platform": NETWORK}, ("'join' makes a cluster of each log; leave 'platform' out",)),
        ({"rows": [0, 5]}, ("'join' makes a cluster of each log; leave 'rows' out",)),
        ({"network": {"links": 0}}, ("'both': network: links holds 0", "at least 1 kbit/s")),
        ({"network": {"links": [5]}}, ("'both': network: links holds 1; give 2, one per cluster",)),
        (
            {"network": {"origin": "partition"}},
            ("'both': network: each log is a cluster; leave 'origin' out",),
        ),
        ({"network": {"origin": 0}}, ("'both': network: origin is 0; known: partition, queue",)),
        (
            {"join": None, "file": "north.swf", "platform": NETWORK},
            (
                "trace 'both': ",
                "north.swf gives neither origins nor link requests",
                "table 'network'",
            ),
        ),
        ({"network": {"computation": 7}}, ("network: computation is 7", "0 to 1")),
        ({"network": {"computaton": 7}}, ("'computaton'", "did you mean 'computation'")),
        (
            {"join": None, "file": "north.swf", "network": {}},
            ("'network' gives the link requests", "'join'", "name = 'network'"),
        ),
        (
            {"join": None, "file": "north.swf", "platform": NETWORK, "network": {"links": 5}},
            ("the platform has the links already; leave 'links' out",),
        ),
        (
            {
                "join": None,
                "file": "north.swf",
                "platform": NETWORK,
                "network": {"origin": "partition"},
            },
            ("'both': network: no job of log", "partition that is a cluster", "clusters are a, b"),
        ),
    ],
)
def test_bad_input_is_refused(
    site: Path, trace: dict[str, Any], words: tuple[str, ...], said: Said
) -> None:
    """With one sentence, before anything is written."""
    campaign = plain(trace=trace)
    campaign["traces"] = [
        {key: value for key, value in one.items() if value is not None}
        for one in ([trace] if "model" in trace else campaign["traces"])
    ]
    sentence = said("plan", str(written(site, campaign)))
    for word in words:
        assert word in sentence


def test_a_job_wider_than_the_network_is_dropped_and_counted(tmp_path: Path) -> None:
    """Of a log on a network; what a model draws is refused instead."""
    row = "{} {} -1 10 {} -1 -1 {} 20 -1 1 7 -1 -1 -1 -1 -1 -1\n"
    text = "".join(row.format(k, k, procs, procs) for k, procs in enumerate((1, 96, 97), 1))
    (tmp_path / "wide.swf").write_text("; MaxProcs: 128\n" + text)
    w = Trace(file=str(tmp_path / "wide.swf"), platform=NETWORK, network={}).read()
    assert w is not None
    assert w.procs.tolist() == [1, 96]
    assert dict(w.dropped) == {"too wide": 1}
    assert w.origin.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        (
            "mine.swf",
            "; Version: 2.2\n1 0 -1 10 2" + 13 * " -1" + "\n",
            "the header gives no number as MaxProcs or MaxNodes; add MaxProcs to its header",
        ),
        (
            "mine.sacct",
            "JobID|User|Submit|Start|End|Timelimit|NCPUS\n1|ann|2024-01-01T00:00:00|"
            "2024-01-01T00:00:00|2024-01-01T00:01:00|02:00|2\n",
            "does not give the machine's size; give the log as SWF, with MaxProcs in its header",
        ),
    ],
)
def test_a_joined_log_has_to_say_its_size(tmp_path: Path, name: str, text: str, why: str) -> None:
    """It cannot be given beside it, so nobody is told to."""
    (tmp_path / name).write_text(text)
    trace = Trace.from_dict({"name": "a", "join": [name]}, tmp_path)
    with pytest.raises(InputError) as error:
        trace.read()
    said = str(error.value)
    assert said.startswith(f"trace 'a': {tmp_path / name}: ")
    assert said.endswith(why)
    assert "--processors" not in said


def test_joined_nodes_are_refused(site: Path) -> None:
    """A log of jobs on nodes is no cluster."""
    (site / "nodes.csv").write_text("job,submit,nodes,walltime,run\n1,0,1,60,9\n")
    (site / "nodes.toml").write_text('[[nodes]]\nnames = "n[1-2]"\ncapacity = 1\n')
    trace = Trace.from_dict(plain(trace={"join": ["north.swf", "nodes.csv"]})["traces"][0], site)
    with pytest.raises(InputError, match="trace 'both': log 'nodes' is of a machine of nodes"):
        trace.read()
