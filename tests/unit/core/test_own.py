"""What users bring: where its text is found, what is loaded from it, and what is refused."""

from __future__ import annotations

import sys
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from schedfarm.core.audit import audit
from schedfarm.core.engine.fair_start import fair_start_times
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.errors import InputError
from schedfarm.core.own import NotLoaded, Source, find_source, load, modules_of, sources
from schedfarm.core.policy.policy import Policy
from schedfarm.core.policy.rules import Rule
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.workload import Workload
from schedfarm.farm.execution.messages import fault_behind

WORK = Workload.from_columns(
    submit=[0, 1, 2], run=[6, 4, 9], estimate=[9, 4, 9], procs=[2, 3, 1], processors=3
)


def test_a_file_in_the_folder_goes_before_what_is_installed(tmp_path: Path) -> None:
    """A campaign's own file wins, by dots in folders below; else the installed module's."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "orders.py").write_text("x = 1\n")
    (tmp_path / "tomllib.py").write_text("y = 2\n")
    assert find_source("mine.orders", tmp_path) == Source("mine.orders", "x = 1\n")
    assert find_source("tomllib", tmp_path).text == "y = 2\n"
    assert "def load" in find_source("schedfarm.core.own", tmp_path).text


def test_finding_imports_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The module's own code has not run when its text is known."""
    (tmp_path / "fails_when_run.py").write_text("raise SystemExit\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert find_source("fails_when_run").text == "raise SystemExit\n"
    assert "fails_when_run" not in sys.modules


@pytest.mark.parametrize("opened", [".", "mine", "mine/orders.py"])
def test_a_file_that_others_could_have_written_is_refused(tmp_path: Path, opened: str) -> None:
    """It, or a folder above it; the sentence says how to mend that."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "orders.py").write_text("x = 1\n")
    place = tmp_path / opened
    mode = place.stat().st_mode
    place.chmod(mode | 0o002)
    with pytest.raises(InputError, match=rf"orders.py is not safe .* chmod go-w {place}$"):
        find_source("mine.orders", tmp_path)
    place.chmod(mode)
    assert find_source("mine.orders", tmp_path).text == "x = 1\n"


@pytest.mark.parametrize("opened", ["__init__.py", "orders.py"])
def test_what_others_could_have_written_is_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: str
) -> None:
    """Neither the module nor, on the way to it, the package that holds it."""
    folder = tmp_path / "written_by_others"
    folder.mkdir()
    ran = tmp_path / "ran"
    for name in ("__init__.py", "orders.py"):
        (folder / name).write_text(f"open({str(ran)!r}, 'a').close()\nx = 1\n" * (name == opened))
    (folder / opened).chmod(0o666)
    monkeypatch.syspath_prepend(tmp_path)
    name = "written_by_others.orders"
    with pytest.raises(InputError, match=rf"{opened} is not safe to run.*chmod go-w"):
        find_source(name)
    with pytest.raises(NotLoaded, match=rf"{opened} is not safe to run.*chmod go-w") as raised:
        load(f"{name}:x")
    assert not ran.exists()
    # Another worker may have a copy that is its user's own.
    assert fault_behind(raised.value) is not None
    (folder / opened).chmod(0o644)
    sys.modules.pop("written_by_others", None)
    load(f"{name}:__name__")
    assert ran.exists()
    for loaded in (name, "written_by_others"):
        sys.modules.pop(loaded)


@pytest.mark.parametrize("module", ["no_such", "no.such.one", "sys", "_struct", ""])
def test_no_text_is_refused(module: str, tmp_path: Path) -> None:
    """Missing, or compiled: one sentence."""
    with pytest.raises(InputError, match="module"):
        find_source(module, tmp_path)


def test_texts_of_one_name_never_mix() -> None:
    """Each context has its own, inner ones first, and nothing stays behind."""
    one, two = {"mine": "class Box: n = 1"}, {"mine": "class Box: n = 2", "yours": "m = 5"}
    with sources(one):
        first = load("mine:Box")
        with sources(two):
            assert load("mine:Box.n") == 2
            assert load("yours:m") == 5
        assert load("mine:Box") is first
    with sources(one):
        assert load("mine:Box") is first
    assert "mine" not in sys.modules
    with pytest.raises(InputError, match="'mine:Box' cannot be imported"):
        load("mine:Box")


def test_threads_have_texts_of_their_own() -> None:
    """A thread sees neither its maker's nor its neighbour's."""

    def value(text: str) -> object:
        with sources({"mine": text}):
            return load("mine:n")

    def bare() -> object:
        return load("mine:n")

    with sources({"mine": "n = -1"}), ThreadPoolExecutor(4) as pool:
        assert list(pool.map(value, [f"n = {i}" for i in range(40)])) == list(range(40))
        with pytest.raises(InputError, match="mine"):
            pool.submit(bare).result()


def test_tracebacks_show_the_users_line() -> None:
    """And a dataclass finds the module that it is in."""
    text = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\n"
        "class Weight:\n    value: int = 3\ndef fails():\n    return 1 / 0  # here\n"
    )
    with sources({"mine": text}):
        fails = load("mine:fails")
        assert load("mine:Weight")().value == 3  # type: ignore[operator]
    with pytest.raises(ZeroDivisionError) as raised:
        fails()  # type: ignore[operator]
    assert "# here" in "".join(traceback.format_exception(raised.value))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("def mine(:", r"\(line 1: "),
        ("import no_such_module", "No module named 'no_such_module'"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("other = 1", "module 'beside' has no 'mine'"),
    ],
)
def test_what_cannot_be_loaded_is_refused(text: str, sentence: str) -> None:
    """By the policy that names it, before anything is simulated; never half loaded."""
    for _ in range(2):
        with (
            sources({"beside": text}),
            pytest.raises(InputError, match=f"policy .* order 'beside:mine' .*{sentence}"),
        ):
            Policy.parse("beside:mine+easy")


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        (
            "submit, waitd",
            "takes 'waitd'; it may take submit, estimate, procs, user, group, ",
        ),
        ("*jobs", r"takes '\*jobs'"),
        ("**jobs", r"takes '\*\*jobs'"),
        ("submit, /", "takes '/submit'"),
    ],
)
def test_an_unknown_argument_is_refused(parameters: str, sentence: str) -> None:
    """A misspelt name is found when the policy is read."""
    text = f"def mine({parameters}): return submit"
    with sources({"beside": text}), pytest.raises(InputError, match=f"backfill order.*{sentence}"):
        Policy.parse("fcfs+easy,backfill=beside:mine")


def test_what_asks_for_nothing_that_passes_is_fixed() -> None:
    """Such an order is worked out once, and may be a fair order."""
    text = (
        "def fixed(estimate): return estimate\n"
        "def moves(estimate, now): return estimate\n"
        "def static(estimate, now): return estimate + now\n"
        "static.static = True\n"
        "def wrong(worked): return worked\n"
        "wrong.static = True\n"
    )
    with sources({"beside": text}):
        expected = fair_start_times(WORK, "spf+easy", later="spf").tolist()
        for name in ("fixed", "static"):
            order = f"beside:{name}"
            assert fair_start_times(WORK, f"{order}+easy", later=order).tolist() == expected
        with pytest.raises(InputError, match="'beside:moves' changes as time passes"):
            fair_start_times(WORK, "spf+easy", later="beside:moves")
        with pytest.raises(InputError, match="static but takes waited or worked"):
            Policy.parse("beside:wrong+easy")


ONE_AT_A_TIME = """
import numpy as np
from schedfarm.core.policy.rules import Rule

def alone(workload, policy):
    "One job at a time, in order of arrival."
    start, now = [], 0
    for submit, run in zip(workload.submit.tolist(), workload.run.tolist()):
        start.append(max(now, submit))
        now = start[-1] + run
    return start

def together(workload, policy):
    return workload.submit

def early(workload, policy):
    return workload.submit - 1

def late(workload, policy):
    return workload.submit + 2**62

def few(workload, policy):
    return [0.5]

def unfit(workload, policy, more):
    return workload.submit

row = Rule("one", "as alone", simulate=alone, platforms=("grid",))
again = Rule("again", "as alone", simulate="beside:alone")
nothing = 7
"""


def test_a_function_is_a_rule() -> None:
    """Its starts make the schedule; fair starts go by the identity of the cut trace."""
    with sources({"beside": ONE_AT_A_TIME}):
        policy = Policy.parse("fcfs+beside:alone")
        assert Policy.parse(policy.name) == policy
        schedule = simulate(WORK, policy)
        assert schedule.start.tolist() == [0, 6, 10]
        assert policy.row.meaning == "One job at a time, in order of arrival."
        assert fair_start_times(WORK, policy).tolist() == [0, 6, 10]
        assert simulate(WORK, "fcfs+beside:again").start.tolist() == [0, 6, 10]
        for options in ({"kind": "relaxed"}, {"later": "spf"}):
            with pytest.raises(InputError, match="rule 'beside:alone' has no reference"):
                fair_start_times(WORK, policy, **options)  # type: ignore[arg-type]
        verdict = audit(schedule, policy)
        assert verdict.ok
        assert verdict.checked == ("start", "submit", "kills", "capacity")
        assert "rule 'beside:alone' has no auditor: its passes are not judged" in verdict.why


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        ("together", "has 6 processors in use at 2 s; the machine has 3"),
        ("early", "starts job 1 at -1 s; it is submitted at 0 s"),
        ("late", "starts job 1 at 4611686018427387904 s, past the clock's 4611686018427387904 s"),
        ("few", r"returned float64 of shape \(1,\); it must return the starts of all jobs"),
        ("row", "'one' does not support platforms of kind 'pool'; it supports grid"),
    ],
)
def test_starts_that_cannot_be_are_refused(rule: str, sentence: str) -> None:
    """A user's rule is not trusted."""
    with sources({"beside": ONE_AT_A_TIME}), pytest.raises(InputError, match=sentence):
        simulate(WORK, f"fcfs+beside:{rule}")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("unfit", r"nor a function of \(workload, policy\)"),
        ("nothing", r"is neither a function of \(state\), or a class .* nor a function of"),
        ("absent", "rule 'beside:absent' cannot be imported"),
        ("alone,backfill=spf", "backfill=spf is an option of rules 'none', 'aggressive'"),
    ],
)
def test_what_is_no_rule_is_refused(name: str, sentence: str) -> None:
    """When the policy is read."""
    with sources({"beside": ONE_AT_A_TIME}), pytest.raises(InputError, match=sentence):
        Policy.parse(f"fcfs+beside:{name}")


def test_entry_point_is_a_rule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed distribution names its rules in the group schedfarm.rules."""
    (tmp_path / "rule_of_plugin.py").write_text(ONE_AT_A_TIME)
    folder = tmp_path / "plugin-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: plugin\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text("[schedfarm.rules]\nalone = rule_of_plugin:alone\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert simulate(WORK, "fcfs+alone").start.tolist() == [0, 6, 10]


def test_a_rule_may_return_a_schedule() -> None:
    """Who knows who was backfilled says so."""
    row = Rule("mine", "easy by another name", simulate=lambda w, policy: simulate(w, "fcfs+easy"))
    told = row.find("simulate")(WORK, Policy.parse("fcfs+easy"))
    assert isinstance(told, Schedule)


def test_modules_of_a_policy() -> None:
    """Whoever ships sources asks which; known names have none."""
    assert modules_of(["SJF+easy,threshold=3d,backfill=lxf"]) == []
    assert modules_of(["a.b:c+d:e,backfill=f:g"]) == ["a.b", "d", "f"]
    assert modules_of(["mine:box.oldest+easy"]) == ["mine"]
