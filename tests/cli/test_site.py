"""`farm policies --site`: the order that a site's file describes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from schedfarm.core.policy.policy import Policy
from tests.support.command_line import Farm

PAGE = Path(__file__).parents[2] / "docs" / "site.md"


def test_the_file_of_the_docs_is_an_order(tmp_path: Path, farm: Farm) -> None:
    """The text is the canonical name, which every command takes."""
    found = re.search(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    site = tmp_path / "site.toml"
    site.write_text(found[1], encoding="utf-8")
    order = farm("policies", "--site", str(site)).stdout.strip()
    assert (
        Policy.parse(f"{order}+easy").order
        == order
        == (
            "multifactor(age=1000, fairshare=10000, favor_small=yes, "
            "accounts=(physics=60, optics=physics/10), users=(ann@optics=2), "
            "qos_priority=(high=100), partitions=(debug=10), tiers=(debug=2))"
        )
    )
    assert json.loads(farm("policies", "--site", str(site), "--json").stdout) == {"order": order}


def test_the_file_with_limits_of_the_docs_is_a_policy(tmp_path: Path, farm: Farm) -> None:
    found = re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    site = tmp_path / "site.toml"
    site.write_text(found[1], encoding="utf-8")
    policy = farm("policies", "--site", str(site)).stdout.strip()
    assert Policy.parse(policy).name == policy
    order = "multifactor(accounts=(physics=60), qos_priority=(high=100))"
    assert policy == (
        f"{order}+easy,threshold=3d,limits=(root.MaxSubmitJobs=1000, "
        "account.physics.GrpTRES=gres/gpu=8, account.physics.GrpTRES=cpu=512, "
        "user.ann@physics.MaxJobs=4, qos.high.MaxJobsPerUser=8)"
    )
    answer = json.loads(farm("policies", "--site", str(site), "--json").stdout)
    assert answer == {"order": order, "policy": policy}


def test_an_account_with_limits_only_has_one_share(tmp_path: Path, farm: Farm) -> None:
    """An account below it finds it listed."""
    site = tmp_path / "site.toml"
    site.write_text(
        "[scheduler]\nrule = 'easy'\n[accounts.science]\nGrpTRES = 'cpu=8'\n"
        "[accounts.physics]\nparent = 'science'\nshares = 2\n",
        encoding="utf-8",
    )
    assert farm("policies", "--site", str(site)).stdout.strip() == (
        "multifactor(accounts=(science=1, physics=science/2))+easy,"
        "limits=(account.science.GrpTRES=cpu=8)"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[root]\nMaxJobs = 1", "limits and options need a rule; give [scheduler] rule = 'easy'"),
        ("[root]\nshares = 1", "[root] has an unknown key 'shares'; it has limits"),
        ("root = 1", "root=1 is not a table; write [root]"),
        ("[scheduler]\nrul = 'easy'", "[scheduler] has an unknown key 'rul'"),
        ("[scheduler]\nrule = 'easy'\n[qos.a]\nMaxJobs = 1", "a qos has no limit 'MaxJobs'"),
        ("[scheduler]\nrule = 'easy'\n[root]\nMaxJobs = -1", "'-1' is not a limit"),
        ("[priorities]", "[priorities] is unknown; did you mean 'priority'?"),
        ("qos = 1", "qos=1 is not a table; write [qos]"),
        ("[priority]\naeg = 1", "[priority] has an unknown key 'aeg'; did you mean 'age'?"),
        ("[priority]\nage = 1.5", "age='1.5'; give a whole number"),
        ("[qos]\nhigh = 1", "[qos.high] is 1; give a table such as priority = 1"),
        ("[qos.high]\nprio = 1", "[qos.high] has an unknown key 'prio'; did you mean 'priority'?"),
        ("[accounts.a]\nparent = 'b'", "[accounts.a] has no shares; give shares = 1"),
        ("[accounts.a]\nparent = 'b'\nshares = 1", "account 'a' is below 'b'"),
        ("[", "site.toml: "),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, farm: Farm, text: str, said: str) -> None:
    site = tmp_path / "site.toml"
    site.write_text(text, encoding="utf-8")
    answer = farm("policies", "--site", str(site), status=2)
    assert said in answer.stderr
    assert "site.toml" in answer.stderr
