"""What no machine could hold, and what would silently do nothing, is one sentence at the start."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from schedfarm.farm import Campaign, run
from schedfarm.farm.campaign import campaign
from tests.support.command_line import Farm
from tests.support.refusals import GOOD, LOG, ROW, Said, other_trace, refused, unlike, write

MODEL = {"name": "m", "model": "lublin", "processors": 64}


CAMPAIGNS: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    ({"resamples": 10**9}, ("resamples is 1000000000", "at most 1000000")),
    ({"resamples": 2**63}, ("resamples is 9223372036854775808", "at most 1000000")),
    ({"resamples": 10**30}, (f"resamples is {10**30}", "at most 1000000")),
    (
        {"resamples": 10**6, "loads": [k / 10 for k in range(1, 12)]},
        ("1 traces x 1000000 resamples x 11 loads x 2", "22000000", "at most 10000000"),
    ),
    ({"traces": other_trace(jobs=10**11)}, ("'m'", "jobs is 100000000000", "at most 10000000")),
    ({"traces": [{**MODEL, "weeks": 10**9}]}, ("'m'", "weeks is 1000000000", "at most 5218")),
    ({"traces": other_trace(processors=10**30)}, ("'m'", f"processors is {10**30}", "2^62")),
    (
        {"traces": other_trace(parameters={"users": 10**12})},
        ("'m'", "users=1000000000000", "at most 10000000"),
    ),
    ({"policies": [f"saf+depth({10**20})"]}, (f"depth({10**20})", "below 10^18")),
    ({"tau": 10**30}, (f"tau is {10**30}", "seconds")),
    ({"name": "a" * 300}, ("name 'aaaa", "300 characters", "at most 100")),
    ({"traces": other_trace(name="a" * 300)}, ("name 'aaaa", "300 characters", "at most 100")),
    ({"warmup": "1000w"}, ("warmup is '1000w'", "trace 'm'", "no job remains", "shorter")),
    ({"warmup": "1w", "log": True, "resamples": 0}, ("warmup is '1w'", "no job remains")),
]
"""Keys of a campaign with absurd values, and what their refusal names."""


def test_campaign(said: Said) -> None:
    """A key, its value, and what would be right; nothing is written, and little allocated."""
    assert unlike(CAMPAIGNS, lambda changes: refused(said, **changes)) == []


def test_own_metric_with_a_long_name(said: Said) -> None:
    """It would be a folder of that name."""
    Path("mine.py").write_text(f"def {'m' * 300}(s): return 1.0\n")
    text = refused(said, metrics=[f"mine:{'m' * 300}"])
    assert "300 characters" in text


def test_a_file_without_an_end(said: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    """A device, or a file that is no campaign, is not read into memory."""
    assert campaign.MOST_CHARACTERS * 4 < 2**28
    monkeypatch.setattr(campaign, "MOST_CHARACTERS", 10_000)
    text = said("plan", "/dev/zero")
    assert "campaign /dev/zero: " in text
    assert "10,000 characters or more, too many for a campaign" in text


def test_a_number_that_python_does_not_read(said: Said) -> None:
    """5,000 digits are no traceback."""
    Path("c.toml").write_text(f"resamples = {'9' * 5000}\n")
    assert "c.toml: a number in it has thousands of digits" in said("run", "c.toml")


def test_a_file_whose_name_no_system_takes(said: Said) -> None:
    """A campaign may name any text."""
    trace = {"name": "m", "file": "a\0b.swf"}
    assert "file is 'a\\x00b.swf'" in refused(said, traces=[trace])


def test_a_name_cannot_command_a_terminal(said: Said) -> None:
    """What a sentence quotes is shown without what a terminal would obey."""
    name = "x\x1b[31my"
    for words in (("status", name), ("run", f"{name}.toml"), ("traces", "info", f"{name}.swf")):
        text = said(*words)
        assert "\x1b" not in text
        assert "x?[31my" in text


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    """As some editors put it before a text."""
    write(GOOD, tmp_path / "c.toml")
    plain = Campaign.from_toml(tmp_path / "c.toml")
    text = (tmp_path / "c.toml").read_bytes()
    (tmp_path / "c.toml").write_bytes(b"\xef\xbb\xbf" + text)
    assert Campaign.from_toml(tmp_path / "c.toml") == plain


def test_duplicate_rows(said: Said) -> None:
    """A row that stands twice would be simulated twice."""

    def with_rows(rows: str) -> str:
        Path("a.swf").write_text(LOG + rows)
        return said("simulate", "a.swf", "--policy", "easy")

    row = ROW.format(5, 18000)
    twice = [
        (row, ("job 5 of user 7", "18000 s", "two rows", "one row of each")),
        (row * 2, ("job 5 of user 7", "2 rows of the log repeat")),
    ]
    assert unlike(twice, with_rows) == []


def test_the_same_job_at_another_instant_is_a_resample(farm: Farm, tmp_path: Path) -> None:
    """A log that `farm simulate --resample` writes is read again."""
    (tmp_path / "a.swf").write_text(LOG + ROW.format(5, 10**6))
    out, policy = tmp_path / "b.swf", ("--policy", "easy")
    farm("simulate", tmp_path / "a.swf", *policy, "--resample", 1, "--weeks", 9, "--out", out)
    farm("audit", out, *policy)


def test_two_sizes_of_the_machine(said: Said, farm: Farm) -> None:
    """The first is not taken for the right one; the same size twice is no contradiction."""
    Path("a.swf").write_text(LOG.replace("; MaxProcs: 8\n", "; MaxProcs: 8\n; MaxProcs: 64\n"))
    text = said("traces", "info", "a.swf")
    assert "MaxProcs 8, and 64 in line 2" in text
    Path("a.swf").write_text("; MaxProcs: 8\n" + LOG)
    farm("traces", "info", "a.swf")


def test_options_that_would_be_passed_over(said: Said) -> None:
    """An option that changes nothing is a mistake."""
    Path("a.swf").write_text(LOG)
    vain = [
        (("--weeks", "3"), ["--weeks 3 does nothing without --resample"]),
        (("--seed", "3"), ["--seed 3 does nothing without --resample"]),
        (("--draw", "users"), ["--draw users does nothing without --resample"]),
        (("--load-by", "interarrival"), ["--load-by interarrival does nothing without --load"]),
        (("--policy", "saf+easy"), ["--policy is given 2 times, as "]),
    ]
    assert unlike(vain, lambda words: said("simulate", "a.swf", "--policy", "easy", *words)) == []


def test_a_negative_sample(said: Said) -> None:
    """It is not taken for none."""
    assert "--sample" in said("verify", "tiny.farm", "--sample", "-1")


def test_a_rule_alone_goes_with_fcfs(farm: Farm, tmp_path: Path) -> None:
    """Both commands read a policy alike."""
    rows = "".join(f"{k} {3600 * k} 0 10 2 -1 -1 2 20 -1 1 7 -1 -1 -1 -1 -1 -1\n" for k in (1, 2))
    (tmp_path / "a.swf").write_text("; MaxProcs: 8\n" + rows)
    for command in ("simulate", "audit"):
        words = (command, tmp_path / "a.swf", "--json", "--policy")
        alone, full = (farm(*words, policy).output for policy in ("easy", "fcfs+easy"))
        assert alone == full
        assert "fcfs+easy" in alone


def test_an_own_order_that_raises(said: Said) -> None:
    """Its line is named, and what it raised."""
    rows = "".join(f"{k} 0 0 10 2 -1 -1 2 20 -1 1 7 -1 -1 -1 -1 -1 -1\n" for k in range(1, 9))
    Path("a.swf").write_text("; MaxProcs: 16\n" + rows)
    words = ("mine.py, line 2, in f raised", "'mine:f+easy'")
    raising = [("return 1 // 0", words), ("raise SystemError('no')", words)]
    for command in (("simulate", "--quiet"), ("audit",)):

        def with_order(line: str, command: tuple[str, ...] = command) -> str:
            Path("mine.py").write_text(f"def f(procs):\n    {line}\n")
            return said(*command, "a.swf", "--policy", "mine:f+easy")

        assert unlike(raising, with_order) == []


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished store of the good campaign."""
    path = tmp_path_factory.mktemp("done") / "tiny.farm"
    run(Campaign.from_dict(GOOD, path.parent), path)
    return path


ROOT = Path("tiny.farm/results.zarr")

DAMAGES: dict[str, Callable[[], object]] = {
    "group": lambda: shutil.rmtree(ROOT / "m"),
    "array": lambda: shutil.rmtree(ROOT / "m" / "wait"),
    "emptied array": lambda: (ROOT / "m/wait/zarr.json").write_bytes(b""),
}
"""Ways to lose arrays of a store whose records are whole."""


@pytest.mark.parametrize("damage", DAMAGES)
def test_arrays_that_are_gone(done: Path, said: Said, farm: Farm, damage: str) -> None:
    """Records alone do not make their cells done; the command named mends the store."""
    write(GOOD, Path("c.toml"))
    shutil.copytree(done, "tiny.farm")
    DAMAGES[damage]()
    words = ["tiny.farm", "zarr.json is missing or damaged", "farm verify"]
    commands = (("run", "c.toml"), ("plan", "c.toml"), ("status", "tiny.farm"))
    assert unlike([(command, words) for command in commands], lambda given: said(*given)) == []
    farm("verify", "tiny.farm", "--repair", "--sample", 0, status=1)
    outcome = run(Campaign.from_toml("c.toml"), "tiny.farm")
    assert outcome.before + outcome.done == 8
    farm("verify", "tiny.farm", "--sample", 0)


def test_a_root_of_arrays_that_is_emptied(done: Path, said: Said, farm: Farm) -> None:
    """The campaign alone says what was there, so that a run makes it again."""
    write(GOOD, Path("c.toml"))
    shutil.copytree(done, "tiny.farm")
    (ROOT / "zarr.json").write_bytes(b"")
    words = ["tiny.farm", "zarr.json is missing or damaged", "farm verify"]
    assert unlike([(("status", "tiny.farm"), words)], lambda given: said(*given)) == []
    made_again = "has been made again: .\n"
    assert made_again not in farm("plan", "c.toml").stderr
    assert made_again in farm("run", "c.toml").stderr


def test_one_wild_submit_time(said: Said) -> None:
    """A campaign would have 10^9 weeks of it, and an array as long."""
    Path("wild.swf").write_text(LOG + ROW.format(30, 10**15))
    trace = {"file": "wild.swf"}
    for text in (
        refused(said, traces=[trace], resamples=0),
        said("simulate", "wild.swf", "--policy", "easy"),
        said("traces", "info", "wild.swf"),
    ):
        assert "job 30 is submitted at 1000000000000000 s, 31,6" in text
        assert "a log lasts at most a century" in text


def test_options_twice_or_in_vain(said: Said) -> None:
    """Both values are named; a switch has none."""
    Path("a.swf").write_text(LOG)
    words = ("simulate", "a.swf", "--policy", "easy")
    text = said(*words, "--load", "0.8", "--load=0.9")
    assert text == "farm: --load is given 2 times, as 0.8 and as 0.9; give it once"
    assert "farm: --overload does nothing without --load; give both" in said(*words, "--overload")
