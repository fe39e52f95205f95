"""`farm report`: the page's contents, and what it refuses. `tests/real` opens it in a browser."""

from __future__ import annotations

import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

from schedfarm.analysis import compare, verdicts
from schedfarm.analysis.errors import StoreError
from schedfarm.analysis.report import Asked
from schedfarm.analysis.report.columns import Columns, labelled
from schedfarm.analysis.report.contents import _fitted, _metrics, _samples, contents
from schedfarm.analysis.report.figures import LOGGED_COLOUR
from schedfarm.analysis.report.markup import HERE, page
from schedfarm.analysis.report.script import check_script
from schedfarm.core import write_swf
from schedfarm.core.models import poisson
from schedfarm.farm import Campaign, run
from schedfarm.farm.execution.run import begin
from tests.support.command_line import Farm
from tests.support.contrast import PARTS, TEXT, contrast
from tests.support.refusals import Said, unlike

CAMPAIGN = """
name = "{name}"
policies = {policies}
{keys}

[[traces]]
name = {trace}
file = "log.swf"
"""

HOSTILE = "</script><img src=x onerror=alert(1)>"

STORES = {
    "both": (
        "A",
        ["fcfs+easy", "spf+easy", "saf+easy"],
        "resamples = 5\nlog = true\nloads = [0.8, 0.9]",
    ),
    "alone": ("A", ["fcfs+easy", "spf+easy"], "resamples = 0"),
    "few": ("A", ["fcfs+easy", "spf+easy"], 'resamples = 1\nkeep = "summary"'),
    "single": ("A", ["fcfs+easy"], "resamples = 2"),
}  # fmt: skip


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reported")
    write_swf(poisson(64, jobs=300, seed=3, per_week=40, users=8), folder / "log.swf")
    for name, (trace, policies, keys) in STORES.items():
        file = folder / f"{name}.toml"
        text = CAMPAIGN.format(
            name=name, trace=json.dumps(trace), policies=json.dumps(policies), keys=keys
        )
        file.write_text(text, encoding="utf-8")
        run(Campaign.from_toml(file), folder / f"{name}.farm")
    return folder


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder of its own, without Vega: its bundling takes 3 s of CPU."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("schedfarm.analysis.report.markup.script", lambda: "/* Vega */")


class Parsed(HTMLParser):
    """Hold the elements of a page, and the text of its scripts, paragraphs and list items."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append((self.tags[-1][0], data))

    def of(self, tag: str) -> list[str]:
        return [text for name, text in self.texts if name == tag]

    @property
    def data(self) -> dict[str, Any]:
        [text] = [
            text for (tag, text) in self.texts if tag == "script" and text.startswith('{"axes"')
        ]
        plain: dict[str, Any] = json.loads(text)
        return plain


def reported(farm: Farm, store: Path, *words: str) -> Parsed:
    farm("report", store, *words, "--out", "page.html")
    return Parsed(Path("page.html").read_text(encoding="utf-8"))


def test_the_verdicts_and_numbers_are_those_of_compare(farm: Farm, stores: Path) -> None:
    store = stores / "both.farm"
    parsed = reported(farm, store, "--metric", "wait", "--by", "none")
    found = compare(store, metrics=["wait"])
    said = [text.replace("\N{NO-BREAK SPACE}", " ") for text in parsed.of("li")]
    assert said[1:3] == verdicts(found)
    rows = labelled(parsed.data["tables"]["comparison"])
    assert len(rows) == 2 * 2
    for row in rows:
        cell = found.sel(metric="wait", trace="A", load=row["load"], policy=row["policy"])
        low, ratio, high = 100 * (cell["ratio"].values - 1)
        assert (row["low"], row["change"], row["high"]) == pytest.approx((low, ratio, high), 1e-4)
        assert row["mean"] == pytest.approx(float(cell["mean"]), rel=1e-4)
        assert row["log"] == pytest.approx(100 * (float(cell["ratio_of_log"]) - 1), rel=1e-4)
    samples = labelled(parsed.data["tables"]["samples"])
    assert len(samples) == 5 * 2 * 2
    levels = labelled(parsed.data["tables"]["levels"])
    summary = xr.open_zarr(store / "results.zarr")["wait"]
    for row in levels:
        own = summary.sel(trace="A", resample=0, load=row["load"], policy=row["policy"])
        assert row["own"] == pytest.approx(float(own), rel=1e-4)


def test_samples_beyond_the_room_are_left_out(stores: Path) -> None:
    """Each series keeps its first samples; the page says so."""
    found = compare(stores / "both.farm", metrics=["wait"])
    whole, nothing = _samples(found, 20)
    assert (len(whole.rows), nothing) == (20, "")
    table, said = _samples(found, 11)
    assert {row[4] for row in table.rows} == {1, 2}
    assert len(table.rows) == 2 * 2 * 2
    assert "of 20 changes in single samples the page has only the first 2 of each policy" in said
    table, said = _samples(found, 3)
    assert table.rows == []
    assert "the page has none, since its limit is 3" in said


def test_long_tables_keep_whole_traces() -> None:
    """The page says which rows it has, and which command has the others."""
    names, traces = ("metric", "trace", "load", "policy", "middle"), ("A", "B", "C")
    table = Columns(names, [("wait", one, "0.9", p, 1.0) for one in traces for p in "PQ"])
    assert _fitted(table, "levels", 6) == (table, "")
    kept, said = _fitted(table, "levels", 5)
    assert kept.rows == table.rows[:4]
    assert said == (
        "of 6 values by load the page has those of the first 2 of 3 traces, since its limit is "
        "5; farm bands --csv has all"
    )
    kept, said = _fitted(table, "levels", 1)
    assert kept.rows == table.rows[:1]
    assert "the page has the first 1, since" in said


def test_a_page_limits_its_tables(stores: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schedfarm.analysis.report.contents.MOST_ROWS", 3)
    found = contents(stores / "both.farm", Asked(by="none"))
    assert {len(found.tables[name].rows) for name in ("comparison", "levels")} == {3}
    assert any(
        "comparisons by trace and load the page has the first 3" in s for s in found.warnings
    )


def test_colours_have_contrast() -> None:
    """Text 4.5 to 1 on each background of the style sheet, outlines and borders of parts 3 to 1."""
    css = (HERE / "page.css").read_text(encoding="utf-8")
    named = dict(re.findall(r"(--[a-z]+): (#[0-9a-f]+)", css))
    used = [
        (prop, named.get(value, value))
        for prop, value in re.findall(
            r"[{; ](color|background|outline|border(?:-left)?):[^;}]*?(--[a-z]+|#[0-9a-f]{3,6})\b",
            css,
        )
    ]
    backgrounds = {value for prop, value in used if prop == "background"}
    texts = {value for prop, value in used if prop == "color"}
    assert (len(backgrounds), len(texts)) == (3, 3)
    pale = [(a, b) for a in texts for b in backgrounds if contrast(a, b) < TEXT]
    assert pale == []
    parts = {value for prop, value in used if prop in ("outline", "border", "border-left")}
    assert [value for value in parts if contrast(value, "#fff") < PARTS] == []
    assert contrast(LOGGED_COLOUR, "#fff") >= PARTS


def test_nothing_is_fetched(farm: Farm, stores: Path) -> None:
    """No element names another file, and the policy allows the page's own scripts alone."""
    parsed = reported(farm, stores / "both.farm")
    named = [attrs.get("src") or attrs.get("href") for _, attrs in parsed.tags]
    assert {name for name in named if name} == {"data:,", "#verdicts"}
    [policy] = [a["content"] for t, a in parsed.tags if a.get("http-equiv")]
    assert policy is not None
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy


def test_text_of_a_store_is_inert(stores: Path) -> None:
    """A name with markup becomes text: there are no elements but those of any page."""
    from dataclasses import replace

    plain = contents(stores / "both.farm", Asked(metrics=["wait"]))
    tags = [tag for tag, _ in Parsed(page(plain)).tags]
    table = plain.tables["comparison"]
    table.rows = [(row[0], HOSTILE, *row[2:]) for row in table.rows]
    hostile = replace(
        plain,
        title=HOSTILE,
        axes={**plain.axes, "trace": [HOSTILE]},
        verdicts=[HOSTILE, *plain.verdicts[1:]],
        campaign=HOSTILE,
        commands={name: HOSTILE for name in plain.commands},
        facts=[(HOSTILE, HOSTILE), *plain.facts[1:]],
    )
    html = page(hostile)
    parsed = Parsed(html)
    assert [tag for tag, _ in parsed.tags] == tags
    assert parsed.data["axes"]["trace"] == [HOSTILE]
    assert labelled(parsed.data["tables"]["comparison"])[0]["trace"] == HOSTILE
    assert HOSTILE not in html


def test_without_samples__the_log(farm: Farm, stores: Path) -> None:
    parsed = reported(farm, stores / "alone.farm")
    assert "in the log alone" in parsed.of("li")[1]
    levels = labelled(parsed.data["tables"]["levels"])
    assert all(row["middle"] is None and row["own"] is not None for row in levels)


def test_one_resample__is_said(farm: Farm, stores: Path) -> None:
    parsed = reported(farm, stores / "few.farm")
    assert "a single pair, no interval" in parsed.of("li")[1]
    assert any("gains by user are not counted" in text for text in parsed.of("li"))


def test_one_policy__is_said(farm: Farm, stores: Path) -> None:
    parsed = reported(farm, stores / "single.farm")
    assert parsed.of("p")[2] == "the store has one policy, fcfs+easy: there is nothing to compare."
    assert labelled(parsed.data["tables"]["levels"])


def test_a_page_says_what_is_missing(farm: Farm, tmp_path: Path) -> None:
    """Of a run that was interrupted at once: a problem, and the missing cells by policy."""
    write_swf(poisson(64, jobs=50, seed=1, per_week=40, users=3), tmp_path / "log.swf")
    (tmp_path / "c.toml").write_text(
        CAMPAIGN.format(
            name="c", trace='"A"', policies='["fcfs+easy", "spf+easy"]', keys="resamples = 3"
        )
    )
    with begin(Campaign.from_toml(tmp_path / "c.toml"), tmp_path / "c.farm"):
        pass
    parsed = reported(farm, tmp_path / "c.farm")
    assert "6 cells: 0 done, 6 missing." in parsed.of("p")
    assert any("no two cells of one sample are finished" in text for text in parsed.of("p"))
    rows = labelled(parsed.data["tables"]["missing"])
    assert [(row["missing"], row["of"]) for row in rows] == [(3, 3), (3, 3)]


def test_refusals(said: Said, stores: Path, tmp_path: Path) -> None:
    store = str(stores / "both.farm")
    newer = tmp_path / "newer.farm"
    newer.mkdir()
    head = json.loads((stores / "both.farm" / "store.json").read_text())
    (newer / "store.json").write_text(json.dumps({**head, "version": 99}))
    (newer / "results.zarr").mkdir()
    rows = [
        ((store, "fcfs+easy", "saff+easy"), ("saff+easy", "did you mean 'saf+easy'")),
        ((store, "--metric", "wiat"), ("wiat", "did you mean 'wait'")),
        ((store, "--by", "usr"), ("usr", "did you mean 'user'")),
        ((store, "--out", "none/p.html"), ("none/p.html", "there is no folder none")),
        ((store, "--watch", "--out", "-"), ("--watch", "give --out a file")),
        ((str(newer),), ("version 99", "newer")),
        ((str(tmp_path),), ("store.json",)),
    ]
    assert unlike(rows, lambda words: said("report", *words)) == []


def test_a_metric_of_participants_is_refused() -> None:
    labels = {"resample": [0], "load": ["original"], "policy": ["fcfs+easy"]}
    part = xr.Dataset(
        {"origin_wait": (("resample", "load", "origin", "policy"), np.ones((1, 1, 2, 1)))},
        {**labels, "origin": ["north", "south"]},
    )
    root = xr.Dataset(coords={"trace": ["site"], **labels})
    tree = xr.DataTree.from_dict({"/": root, "/site": part})
    with pytest.raises(StoreError, match="use farm compare --metric origin_wait"):
        _metrics(tree, root, ["origin_wait"])


def test_without_the_scripts__one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schedfarm.analysis.report.script.find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"need vl-convert-python.*schedfarm\[report\]"):
        check_script()


def test_the_same_store__the_same_page(farm: Farm, stores: Path) -> None:
    first = reported(farm, stores / "few.farm").texts
    assert reported(farm, stores / "few.farm").texts == first


def test_a_metric_without_values__is_said(farm: Farm, stores: Path) -> None:
    """The page names the metric, and has the others."""
    parsed = reported(
        farm, stores / "both.farm", "--metric", "wait", "--metric", "bounded_slowdown_premature"
    )
    assert any(
        "bounded_slowdown_premature has no value in any finished cell" in t for t in parsed.of("p")
    )
    assert [one["name"] for one in parsed.data["metrics"]] == ["wait"]
    alone = reported(farm, stores / "both.farm", "--metric", "bounded_slowdown_premature")
    assert any("bounded_slowdown_premature has no value" in text for text in alone.of("p"))
    assert len(alone.of("li")) == 1


def test_a_watched_run__is_written_until_it_ends(
    farm: Farm, stores: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each page but the last loads itself again, and says that the numbers are preliminary."""
    left, pages = iter([True, True, False]), []

    def is_running(_: object, since: float) -> bool:
        pages.extend(path.read_text() for path in [Path("page.html")] if path.exists())
        return next(left)

    monkeypatch.setattr("schedfarm.farm.watching.status.is_running", is_running)
    # By its name in `schedfarm.farm.cli` the module is the command.
    module = sys.modules["schedfarm.farm.cli.report"]
    monkeypatch.setattr(module, "WATCHED_SECONDS", 0.01)
    last = reported(farm, stores / "few.farm", "--watch")
    assert [Parsed(one).data["refresh"] for one in pages] == [0.01, 0.01]
    assert all("A run is in progress" in one for one in pages)
    assert last.data["refresh"] is None
    assert not any("A run is in progress" in text for text in last.of("p"))


def test_a_watched_store_may_lack_arrays_while_its_run_goes_on(
    farm: Farm, stores: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page that cannot be made is left out, and the last one is written all the same."""
    left = iter([True, True, False])
    module = sys.modules["schedfarm.farm.cli.report"]
    made = module.write_page
    tried: list[bool] = []

    def write_page(*args: Any, **kwargs: Any) -> None:
        tried.append(kwargs["refresh"] is None)
        if len(tried) == 1:
            raise StoreError("the store has grown while it was read")
        made(*args, **kwargs)

    monkeypatch.setattr("schedfarm.farm.watching.status.is_running", lambda _, since: next(left))
    monkeypatch.setattr(module, "write_page", write_page)
    monkeypatch.setattr(module, "WATCHED_SECONDS", 0.01)
    ended = farm("report", str(stores / "few.farm"), "--watch", "--out", "page.html")
    assert tried == [False, False, True]
    assert "note: this page is left out, since the run goes on: the store has grown" in ended.stderr
    assert Path("page.html").exists()
