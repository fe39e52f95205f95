"""Small refusals and answers: own code that raises, options twice or in vain, audits cleaned."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

import farm
from core.audit import audit, read_schedule
from core.logs.clean import Clean
from farm.campaign.campaign import Campaign
from farm.store.store import Store
from farm.verify import Again, verify
from tests.farm.refusals import GOOD, LOG, ROW, Said

RAISES = '''
def oldest(submit, now):
    """Raises when it is called."""
    raise KeyError("no such\\ncolumn")
'''


def test_an_order_of_a_package_that_raises_is_one_sentence(
    said: Said, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the exception and the line, be it named by an entry point or by its module."""
    package = tmp_path / "site"
    folder = package / "plugin-1.0.dist-info"
    folder.mkdir(parents=True)
    (package / "order_that_raises.py").write_text(RAISES)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: plugin\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text("[schedfarm.orders]\nold = order_that_raises:oldest\n")
    monkeypatch.syspath_prepend(package)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    Path("a.swf").write_text(LOG)
    for order in ("old", "order_that_raises:oldest"):
        text = said("simulate", "a.swf", "--policy", f"{order}+easy")
        assert "order_that_raises.py, line 4, in oldest raised KeyError: 'no such" in text
        assert text.endswith("; mend it there")


def test_options_twice_or_in_vain(said: Said) -> None:
    """Both values are named; a switch has none."""
    Path("a.swf").write_text(LOG)
    words = ("simulate", "a.swf", "--policy", "easy")
    text = said(*words, "--load", "0.8", "--load=0.9")
    assert text == "Error: --load is given 2 times, as 0.8 and as 0.9; give it once"
    assert "Error: --overload does nothing without --load; give both" in said(*words, "--overload")


def test_a_store_with_high_loads_is_verified(tmp_path: Path) -> None:
    """It was made with them, whatever its campaign says of overload since."""
    campaign = Campaign.from_dict({**GOOD, "loads": [2.5], "overload": True}, tmp_path)
    farm.run(campaign, tmp_path / "s")
    store = Store.open(tmp_path / "s")
    text = store.text.replace("overload = true", "overload = false")
    assert text != store.text
    replace(store, text=text).save()
    assert list(verify(tmp_path / "s", Again(2))) == []


def test_a_schedule_is_read_as_its_rows_are_cleaned(tmp_path: Path) -> None:
    """Batsim runs a second more than its log says; a job that is killed here runs on there."""
    rows = "; MaxProcs: 2\n" + "".join(
        ROW.format(k, 0).replace("-1 10", f"{wait} 30", 1) for k, wait in ((1, 0), (2, 31))
    )
    path = tmp_path / "b.swf"
    path.write_text(rows)
    assert not audit(read_schedule(path), "fcfs+easy").ok
    schedule = read_schedule(path, clean=Clean(run_plus=1, kill=False))
    assert schedule.workload.run.tolist() == [31, 31]
    assert schedule.overrun.tolist() == [0, 0]
    assert audit(schedule, "fcfs+easy").ok
