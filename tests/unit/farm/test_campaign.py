"""Campaign files and values: what they say, and that both say the same."""

from __future__ import annotations

import dataclasses
import hashlib
import pickle
from pathlib import Path

import pytest

from schedfarm.core import InputError
from schedfarm.core.workload.on_nodes import OnNodes, put_on_nodes
from schedfarm.farm.campaign.campaign import Campaign, load_label
from schedfarm.farm.campaign.plain import keys
from schedfarm.farm.campaign.samples import Samples
from schedfarm.farm.campaign.shipped import find, shipped
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.planning.design import build, design
from schedfarm.farm.planning.survey import survey
from tests.support.paths import DOCS

TEXT = """
name = "small"
resamples = 2
log = true
loads = ["original", 0.90, 1]
policies = ["SJF+easy,threshold=72h", "fcfs+bf"]

[[traces]]
file = "logs/KTH-SP2.swf.gz"
rows = [0, 500]

[[traces]]
name = "model"
model = "lublin"
processors = 64
jobs = 100
[traces.parameters]
f = 2.0
"""


def written(folder: Path, text: str = TEXT) -> Path:
    path = folder / "small.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_file_is_read_in_canonical_form(tmp_path: Path) -> None:
    """Names of policies and loads become canonical; a trace's file is relative to the campaign."""
    campaign = Campaign.from_toml(written(tmp_path))
    assert campaign.policies == ("spf+easy,threshold=3d", "fcfs+aggressive")
    assert campaign.loads == ("original", "0.9", "1.0")
    assert campaign.resample_axis == (0, 1, 2)
    assert campaign.cells == 2 * 3 * 3 * 2
    assert campaign.traces[0].name == "KTH-SP2"
    assert campaign.traces[0].file == str(tmp_path / "logs" / "KTH-SP2.swf.gz")
    assert campaign.traces[0].rows == (0, 500)
    assert campaign.traces[1].parameters == {"f": 2.0}


def test_toml_and_value_are_the_same_thing(tmp_path: Path) -> None:
    """Writing a campaign and reading it back gives an equal one."""
    campaign = Campaign.from_toml(written(tmp_path))
    again = Campaign.from_toml(written(tmp_path, campaign.to_toml()))
    assert again == campaign
    assert again.to_toml() == campaign.to_toml()


def test_ends_left_out_are_settings_only_if_they_leave_something_out() -> None:
    """A store made before there were such keys stays the store of a campaign without them."""
    plain = find("quickstart")
    assert set(plain.settings) == {"seed", "tau", "draw", "load_by"}
    cut = dataclasses.replace(plain, warmup="14d", cooldown=True)
    assert {k: cut.settings[k] for k in ("warmup", "cooldown")} == {
        "warmup": "2w",
        "cooldown": True,
    }
    assert dataclasses.replace(cut, warmup="0w", cooldown=False).settings == plain.settings
    with pytest.raises(InputError, match="warmup is 2; it must be a share"):
        dataclasses.replace(plain, warmup=2)
    with pytest.raises(InputError, match="cooldown is '2w'; it must be true or false"):
        dataclasses.replace(plain, cooldown="2w")


def test_cleaning_is_kept_where_it_cleans(tmp_path: Path) -> None:
    """Options at their default are no options; the others come back from the text."""
    campaign = Campaign.from_toml(written(tmp_path))
    log = campaign.traces[0]
    assert "clean" not in log.to_dict()
    as_ever = dataclasses.replace(log, clean={"kill": True, "estimate_factor": 0})
    assert (as_ever, as_ever.to_dict()) == (log, log.to_dict())
    clean = {"zero_run": "drop", "kill": False}
    other = dataclasses.replace(campaign, traces=(dataclasses.replace(log, clean=clean),))
    again = Campaign.from_toml(written(tmp_path, other.to_toml()))
    assert again == other
    assert again.traces[0].clean == clean


def test_a_log_cleaned_otherwise_is_another_log(tmp_path: Path) -> None:
    """So a store of the one refuses the other, and a selection comes after the cleaning."""
    row = "1 0 -1 100 2 -1 -1 4 50 -1 1 5 -1 -1 -1 -1 -1 -1"
    (tmp_path / "a.swf").write_text(f"; MaxProcs: 8\n{row}\n")
    plain = Trace(file=str(tmp_path / "a.swf"))
    cleaned = dataclasses.replace(plain, clean={"processors": "allocated", "kill": False})
    chosen = dataclasses.replace(cleaned, select={"widths": [1, 3]})
    logs = [trace.read() for trace in (plain, cleaned, chosen)]
    assert [(w.run[0], w.procs[0]) for w in logs if w] == [(50, 4), (100, 2), (100, 2)]
    store = tmp_path / "store"
    campaign = Campaign(name="c", traces=(plain,), policies=("fcfs+easy",), log=True)
    build(design(store, survey(campaign)))
    assert design(store, survey(campaign)).standing
    with pytest.raises(InputError, match="trace 'a' differs from the one of the store"):
        design(store, survey(dataclasses.replace(campaign, traces=(cleaned,))))


def test_the_simulators_inputs_are_those_of_the_paper_and_nothing_else() -> None:
    """`saf-2019-batsim` is `saf-2019` with cleaned logs, and with policies without threshold."""
    plain, cleaned = find("saf-2019"), find("saf-2019-batsim")
    batsim = {
        "processors": "allocated",
        "estimate_factor": 2,
        "kill": False,
        "run_plus": 1,
        "zero_run": "drop",
    }
    assert cleaned.traces == tuple(dataclasses.replace(t, clean=batsim) for t in plain.traces)
    extra = tuple(p.replace(",threshold=3x", "") for p in plain.policies[1:])
    assert cleaned.policies == (*plain.policies, *extra)
    for key in ("settings", "loads", "resample_axis", "report", "metrics", "fairness"):
        assert getattr(cleaned, key) == getattr(plain, key)


@pytest.mark.parametrize("name", shipped())
def test_shipped_campaign_is_valid_and_titled(name: str) -> None:
    """A campaign that ships has its file's name and says what it is."""
    campaign = find(name)
    assert campaign.name == name
    assert campaign.title


@pytest.mark.parametrize("name", shipped())
def test_long_form_of_a_pool_is_the_short_one(name: str) -> None:
    """`[traces.platform]` says the same as `processors`, and a store is named by the latter."""
    campaign = find(name)
    plain = campaign.to_dict()
    for trace in plain["traces"]:
        if "processors" in trace:
            configuration = {"processors": trace.pop("processors")}
            trace["platform"] = {"name": "pool", "configuration": configuration}
    assert Campaign.from_dict(plain, Path()) == campaign
    assert Campaign.from_dict(plain, Path()).to_toml() == campaign.to_toml()


OWN = """
def oldest(submit, estimate, procs, user, now):
    return submit
oldest.static = True

def p95_wait(schedule):
    return 1.0
"""

ASKS = """
name = "own"
resamples = 1
policies = ["mine:oldest+easy,backfill=other.room:f", "fcfs+easy"]
metrics = ["mine:p95_wait"]
traces = [{ name = "m", model = "lublin", processors = 64, jobs = 9 }]
"""


def test_sources_of_own_names_come_with_the_campaign(tmp_path: Path) -> None:
    """They are found beside the file, hashed, carried along and no part of the text."""
    (tmp_path / "mine.py").write_text(OWN)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "room.py").write_text("def f(submit, estimate, procs, user, now): pass")
    campaign = Campaign.from_toml(written(tmp_path, ASKS))
    assert list(campaign.sources) == ["mine", "other.room"]
    assert campaign.sources["mine"] == OWN
    assert campaign.own["mine"] == hashlib.sha256(OWN.encode()).hexdigest()
    assert "sources" not in campaign.to_dict()
    assert campaign.to_dict()["metrics"] == ["mine:p95_wait"]
    assert find("quickstart").own == {}
    # A store gives its sources back: nothing is looked for.
    plain = campaign.to_dict()
    assert Campaign.from_dict(plain, tmp_path / "none", campaign.sources).own == campaign.own
    with pytest.raises(InputError, match="'mine'"):
        Campaign.from_dict(plain, tmp_path / "none")
    less = dataclasses.replace(campaign, policies=("mine:oldest+easy",))
    assert list(less.sources) == ["mine"]
    assert pickle.loads(pickle.dumps(campaign)).sources == campaign.sources


def test_own_names_from_python_are_here_or_can_be_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The current folder comes first, then what Python knows; a folder can be given."""
    (tmp_path / "mine.py").write_text(OWN)
    trace = Trace(name="m", model="lublin", processors=64, jobs=9)
    asked = {"name": "own", "traces": (trace,), "policies": ("mine:oldest+easy",), "resamples": 1}
    with pytest.raises(InputError, match="'mine'"):
        Campaign(**asked)
    assert Campaign(**asked, folder=tmp_path).sources == {"mine": OWN}
    monkeypatch.chdir(tmp_path)
    assert Campaign(**asked).sources == {"mine": OWN}
    known = {**asked, "policies": ("schedfarm.core.policy.orders:wfp3+easy",)}
    assert list(Campaign(**known).sources) == ["schedfarm.core.policy.orders"]


def test_lists_of_slurms_priority_are_of_numbers_that_samples_keep() -> None:
    """Stores hold no names, and whole users are numbered again when they are drawn."""
    listed = "fcfs+easy,backfill=multifactor(accounts=({}=1), users=(5@{}=2))"
    asked = {"name": "c", "traces": (Trace(file="a.swf"),), "resamples": 1}
    with pytest.raises(InputError, match="accounts lists 'optics', .* which a campaign always"):
        Campaign(**asked, policies=(listed.format("optics", "optics"),))
    numbers = listed.format(3, 3)
    assert Campaign(**asked, policies=(numbers,)).draw != "users"
    with pytest.raises(InputError, match="lists users, and draw = 'users' gives the users of"):
        Campaign(**asked, policies=(numbers,), draw="users")


def test_limits_of_slurm_are_of_numbers_that_samples_keep() -> None:
    limited = "fcfs+easy,limits=({}.MaxJobs=1)"
    asked = {"name": "c", "traces": (Trace(file="a.swf"),), "resamples": 1}
    with pytest.raises(InputError, match="account.optics.MaxJobs has the name 'optics'; a campai"):
        Campaign(**asked, policies=(limited.format("account.optics"),))
    numbers = limited.format("user.5@3")
    assert Campaign(**asked, policies=(numbers,)).draw != "users"
    with pytest.raises(InputError, match="is of a user, and draw = 'users' gives the users of"):
        Campaign(**asked, policies=(numbers,), draw="users")


def test_lists_and_paths_from_python_are_taken() -> None:
    """Values are brought to the type that a campaign keeps."""
    trace = Trace(file=Path("a.swf"), rows=[0, 5])
    assert (trace.name, trace.file, trace.rows) == ("a", "a.swf", (0, 5))
    campaign = Campaign(
        name="lists", traces=[trace], policies=["saf+easy"], loads=[0.9], resamples=1
    )
    assert campaign.traces == (trace,)
    assert (campaign.policies, campaign.loads) == (("saf+easy",), ("0.9",))
    with pytest.raises(InputError, match=r"traces holds .*; it must be a schedfarm\.Trace"):
        dataclasses.replace(campaign, traces=[{"file": "a.swf"}])
    with pytest.raises(InputError, match="trace 'a': jobs is 0; it must be a whole number"):
        dataclasses.replace(trace, jobs=0)


def test_nodes_are_kept_in_full() -> None:
    """Every option with its value; a wrong one is refused, and so is another machine beside."""
    trace = Trace(log="KTH-SP2", nodes={"properties": 0.2, "lead": ["60m", "1d"]})
    assert trace.nodes == OnNodes(properties=0.2, lead=["1h", "1d"]).to_dict()
    assert Trace.from_dict(trace.to_dict(), Path()) == trace
    with pytest.raises(InputError, match="nodes: unknown key 'property'; did you mean 'prop"):
        Trace(log="KTH-SP2", nodes={"property": 0.2})
    with pytest.raises(InputError, match="give it or 'platform', not both"):
        Trace(log="METACENTRUM", nodes={}, platform={"name": "grid"})


def test_jobs_are_put_on_nodes_as_they_are_read(tmp_path: Path) -> None:
    """Those of a log before samples are drawn of it; those of a model in each sample."""
    path = tmp_path / "own.swf"
    path.write_text(
        "; MaxProcs: 4\n" + "".join(f"{n} {n} -1 9 {n}{13 * ' -1'}\n" for n in range(1, 5))
    )
    nodes = {"nodes": 8, "reservations": 1.0}
    log = Trace(file=str(path), select={"widths": [2, 4]}, jobs=2, nodes=nodes).read()
    assert log is not None
    assert log.platform == OnNodes(nodes=8).platform
    assert (log.procs.tolist(), log.reserved.min() >= 3600) == ([8, 12], True)
    model = Trace(name="m", model="lublin", processors=64, jobs=50, nodes=nodes)
    settings = {"seed": 1, "draw": "weeks", "load_by": "runtime"}
    drawn = Samples(model, model.read(), settings).drawn(3)
    assert drawn.platform == log.platform
    plain = Samples(dataclasses.replace(model, nodes=None), None, settings).drawn(3)
    again = put_on_nodes(plain, OnNodes(**nodes))
    assert drawn.digest() == again.digest()


def test_every_key_is_documented() -> None:
    """docs/campaigns.md has a row for each key, with its default."""
    text = (DOCS / "campaigns.md").read_text(encoding="utf-8")
    _, of_campaign, of_trace = text.split("\n## ")[:3]
    for kind, part in ((Campaign, of_campaign), (Trace, of_trace)):
        rows = [line.split("|") for line in part.splitlines() if line.startswith("| `")]
        assert [row[1].strip(" `") for row in rows] == [f.name for f in keys(kind)]


@pytest.mark.parametrize("load", [0, -0.5, 100, True, "fast", float("nan"), None])
def test_load_that_is_none_is_refused(load: object) -> None:
    """A load is `original` or a number above 0; 100 is a percentage by mistake."""
    with pytest.raises(InputError, match="neither 'original' nor an offered load"):
        load_label(load)  # type: ignore[arg-type]


def test_trace_needs_exactly_one_source() -> None:
    """A trace is a file or a model."""
    with pytest.raises(InputError, match="one of 'file', 'log', 'model' and 'join'"):
        Trace(name="both", file="a.swf", model="lublin", processors=4, jobs=5)
    with pytest.raises(InputError, match="one of 'file', 'log', 'model' and 'join'"):
        Trace(name="none")


def test_a_rule_alone_goes_with_fcfs() -> None:
    """As on the command line; an order alone is no policy."""
    trace = Trace(name="m", model="lublin", processors=64, jobs=50)
    campaign = Campaign(name="c", traces=(trace,), policies=("easy", "conservative"))
    assert campaign.policies == ("fcfs+easy", "fcfs+conservative")
    with pytest.raises(InputError, match="'saf' is not of the form"):
        Campaign(name="c", traces=(trace,), policies=("saf",))
