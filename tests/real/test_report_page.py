"""The page of `farm report` in a browser without a network."""

from __future__ import annotations

import base64
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from schedfarm.analysis import open_summary
from schedfarm.analysis.report import Asked
from schedfarm.analysis.report.contents import contents
from schedfarm.analysis.report.markup import page as page_of
from schedfarm.core import simulate, write_swf
from schedfarm.core.models import poisson
from schedfarm.farm import Campaign, run
from tests.support.chromium import Page, browser, missing
from tests.support.contrast import TEXT, contrast

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "Chromium is here")

CAMPAIGN = """
name = "paged"
policies = ["fcfs+easy", "spf+easy", "saf+easy"]
resamples = 5
log = true
draw = "weeks"
loads = ["original", 0.8]

[[traces]]
name = "site"
file = "site.swf"

[[traces]]
name = "M"
model = "lublin"
processors = 64
jobs = 200
"""

FIGURES = ("weeks", "changes", "levels", "samples", "groups")

HOSTILE = "</script><img src=x onerror=alert(1)>"

MARKS = """
return document.querySelectorAll(
  "#canvas-" + arguments[0] + " svg .mark-symbol > path, #canvas-" + arguments[0]
  + " svg .mark-rect > path, #canvas-" + arguments[0] + " svg .mark-line > path").length
"""
"""Number of points, ticks and lines of a figure, legends included."""

WIDER = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"

PAPER = 718
"""Width of A4 between margins of 1 cm, CSS pixels."""

COLOURS = """
const found = new Map();
for (const element of document.querySelectorAll("body *")) {
  const own = Array.from(element.childNodes).some((n) => n.nodeType === 3 && n.data.trim());
  if (!own || !element.checkVisibility() || element.closest("script, style, noscript")) continue;
  const ink = element.closest("svg") ? getComputedStyle(element).fill
    : getComputedStyle(element).color;
  let under = element;
  let paper = "rgba(0, 0, 0, 0)";
  for (; under && paper === "rgba(0, 0, 0, 0)"; under = under.parentElement)
    paper = getComputedStyle(under).backgroundColor;
  const row = [ink, paper, element.tagName.toLowerCase()];
  found.set(row.join(), row);
}
return Array.from(found.values())
"""
"""Text colours with their backgrounds and elements."""

COLUMN = """
return Array.from(document.querySelectorAll("#table-comparison tbody tr"),
  (row) => row.cells[arguments[0]].textContent)
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the page of two traces, one of them a log with the waits of another scheduler."""
    folder = tmp_path_factory.mktemp("page")
    jobs = poisson(64, jobs=300, seed=5, per_week=100, users=6)
    write_swf(jobs, folder / "site.swf", simulate(jobs, "fcfs+none"))
    (folder / "c.toml").write_text(CAMPAIGN, encoding="utf-8")
    run(Campaign.from_toml(folder / "c.toml"), folder / "c.farm")
    command = [sys.executable, "-m", "schedfarm", "report", "c.farm", "--out", "page.html"]
    subprocess.run(command, cwd=folder, check=True)
    assert open_summary(folder / "c.farm")["wait"].notnull().all()
    return folder / "page.html"


@pytest.fixture(scope="module")
def opened(file: Path) -> Iterator[Page]:
    with browser() as page:
        page.open(file)
        yield page


def choose(page: Page, axis: str, value: str) -> None:
    """Choose from a filter by its element, as a reader does, and wait for the figures."""
    from selenium.webdriver.support.ui import Select

    turn = int(page.run("return document.body.dataset.drawn"))
    Select(page.driver.find_element("id", f"by-{axis}")).select_by_value(value)
    page.wait_for_turn(turn + 1)


def focused(page: Page) -> dict[str, Any]:
    found: dict[str, Any] = page.run(
        "const e = document.activeElement;"
        "return {tag: e.tagName, key: e.dataset.key, style: getComputedStyle(e).outlineStyle}"
    )
    return found


def test_it_opens_quietly(file: Path) -> None:
    """Nothing on the console, and no request but for the file."""
    with browser() as page:
        page.open(file)
        assert page.console() == []
        assert page.requests() == [file.as_uri()]


def test_names_with_markup_are_text(file: Path, tmp_path: Path) -> None:
    """A trace of such a name, as a store that was tampered with has, is drawn and listed so."""
    plain = contents(file.parent / "c.farm", Asked())
    axes = {axis: [HOSTILE if x == "site" else x for x in plain.axes[axis]] for axis in plain.axes}
    for table in plain.tables.values():
        table.rows = [tuple(HOSTILE if x == "site" else x for x in row) for row in table.rows]
    spoilt = tmp_path / "spoilt.html"
    spoilt.write_text(page_of(replace(plain, title=HOSTILE, axes=axes)), encoding="utf-8")
    with browser() as page:
        page.open(spoilt)
        assert page.console() == []
        assert page.run("return document.querySelectorAll('img, iframe, object').length") == 0
        assert page.run("return document.querySelector('h1').textContent") == HOSTILE
        assert HOSTILE in page.run(COLUMN, 0)
        assert all(page.run(MARKS, name) > 3 for name in FIGURES)


def test_a_foreign_script_is_refused(file: Path, tmp_path: Path) -> None:
    """The policy of the page holds: a script that it did not bring does not run."""
    text = file.read_text(encoding="utf-8")
    spoilt = tmp_path / "spoilt.html"
    spoilt.write_text(text.replace("</main>", "<script>window.foreign = 1</script></main>"))
    with browser() as page:
        page.open(spoilt)
        assert page.run("return window.foreign") is None
        assert any("Content Security Policy" in said for said in page.console())


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_draws(opened: Page, name: str) -> None:
    """Marks, and a description for who cannot see them."""
    assert opened.run(MARKS, name) > 3
    label = opened.driver.find_element("id", f"canvas-{name}").get_attribute("aria-label")
    assert label is not None
    assert "marks, from " in label


def test_filters_change_marks(opened: Page) -> None:
    """Fewer marks for one policy, other values for another metric, and all of them again."""
    before = [opened.run(MARKS, name) for name in FIGURES]
    choose(opened, "policy", "spf+easy")
    fewer = [opened.run(MARKS, name) for name in FIGURES]
    assert all(few < many for few, many in zip(fewer, before, strict=True))
    assert set(opened.run(COLUMN, 2)) == {"spf+easy"}
    choose(opened, "policy", "")
    choose(opened, "load", "0.8")
    assert set(opened.run(COLUMN, 1)) == {"0.8"}
    assert opened.run(MARKS, "changes") < before[1]
    choose(opened, "load", "")
    means = opened.run(COLUMN, 3)
    choose(opened, "metric", "bounded_slowdown")
    assert opened.run(COLUMN, 3) != means
    assert "bounded slowdown" in opened.driver.find_element("id", "canvas-levels").text
    choose(opened, "metric", "wait")
    choose(opened, "trace", "M")
    assert set(opened.run(COLUMN, 0)) == {"M"}
    choose(opened, "trace", "")
    assert [opened.run(MARKS, name) for name in FIGURES] == before
    assert opened.console() == []


def test_tables_sort_by_keyboard(opened: Page) -> None:
    """Tab reaches a header, Enter and Space sort by it; the focus stays, and can be seen."""
    from selenium.webdriver.common.keys import Keys

    button = opened.driver.find_element("css selector", "#table-comparison [data-key=trace]")
    button.send_keys(Keys.TAB + Keys.TAB + Keys.TAB)
    assert focused(opened)["key"] == "mean"
    assert focused(opened)["style"] != "none"
    sort = "return document.querySelector('#table-comparison [data-key=mean]').closest('th')"
    for key, direction in ((Keys.ENTER, "ascending"), (Keys.SPACE, "descending")):
        opened.driver.switch_to.active_element.send_keys(key)
        assert opened.run(f"{sort}.getAttribute('aria-sort')") == direction
        values = [float(x.replace("\u2009", "")) for x in opened.run(COLUMN, 3)]
        assert values == sorted(values, reverse=direction == "descending")
        assert focused(opened)["key"] == "mean"
    others = opened.run(
        "return Array.from(document.querySelectorAll('#table-comparison th'),"
        "(th) => th.getAttribute('aria-sort')).filter((x) => x !== 'none').length"
    )
    assert others == 1


@pytest.mark.parametrize("width", [320, 1_440])
def test_it_fits_its_width(opened: Page, width: int) -> None:
    """The page does not scroll sideways; wide tables do, in a region of their own."""
    opened.resize(width)
    assert opened.run(WIDER) <= 0
    svg = opened.run(
        "return Array.from(document.querySelectorAll('.canvas svg'),"
        "(svg) => svg.getBoundingClientRect().right)"
    )
    assert len(svg) == len(FIGURES)
    assert max(svg) <= width


def test_texts_have_contrast(opened: Page) -> None:
    """Every text of the page, in figures too, against the background that it has."""
    found = opened.run(COLOURS)
    assert len(found) > 3
    assert {"text", "td", "p", "code", "button"} <= {tag for *_, tag in found}
    assert [one for one in found if contrast(*one[:2]) < TEXT] == []


def test_print(opened: Page) -> None:
    """On A4 nothing is cut off sideways, controls are gone, and the choice stands in words."""
    opened.resize(PAPER)
    opened.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert opened.run(WIDER) <= 0
        beyond = opened.run(
            "return Array.from(document.querySelectorAll('table, svg, pre, p, li')).filter("
            "(e) => e.getBoundingClientRect().right > arguments[0] + 1).map((e) => e.tagName)",
            PAPER,
        )
        assert beyond == []
        assert not opened.driver.find_element("id", "filters").is_displayed()
        assert opened.driver.find_element("id", "selection").text.startswith("Shown: ")
        printed = opened.driver.print_page()
        assert base64.b64decode(printed).startswith(b"%PDF")
    finally:
        opened.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
        opened.resize(1_440)


def test_structure(opened: Page) -> None:
    """Tables have captions and column headers, controls and regions names, headings an order."""
    unnamed = opened.run(
        "return Array.from(document.querySelectorAll('select'))"
        ".filter((s) => !s.labels.length).length"
        "+ Array.from(document.querySelectorAll('table')).filter((t) => !t.caption).length"
        "+ document.querySelectorAll('th:not([scope])').length"
        "+ Array.from(document.querySelectorAll('[aria-labelledby]')).filter("
        "(e) => !document.getElementById(e.getAttribute('aria-labelledby'))).length"
    )
    assert unnamed == 0
    assert opened.run("return document.documentElement.lang") == "en"
    assert opened.run("return document.querySelectorAll('h1').length") == 1


def test_a_filter_is_in_the_address(file: Path) -> None:
    """So that a link to a choice can be kept, and a page that loads itself again keeps it."""
    with browser() as page:
        page.open(file)
        choose(page, "policy", "spf+easy")
        page.driver.refresh()
        page.wait_for_turn(1)
        assert page.run("return document.getElementById('by-policy').value") == "spf+easy"
        assert set(page.run(COLUMN, 2)) == {"spf+easy"}
