"""Files that a release needs agree with the package."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest
import yaml

from tests.support.paths import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


def test_the_citation_is_of_this_version() -> None:
    cited: dict[str, Any] = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    same = {"title": "name", "version": "version", "abstract": "description", "license": "license"}
    assert {key: cited[key] for key in same} == {key: PROJECT[of] for key, of in same.items()}


@pytest.mark.parametrize("form", FORMS, ids=lambda path: path.stem)
def test_issue_forms_are_valid(form: Any) -> None:
    """A form needs a name, a description, and labelled fields of known types."""
    given = yaml.safe_load(form.read_text(encoding="utf-8"))
    assert given["name"]
    assert given["description"]
    assert {one["type"] for one in given["body"]} <= {"textarea", "input"}
    assert all(one["attributes"]["label"] for one in given["body"])


def test_links_of_the_contributors_pages_lead_somewhere() -> None:
    """These pages are outside the documentation, whose build checks its own links."""
    pages = sorted((ROOT / ".github").glob("*.md"))
    links = [
        (page.name, link, (page.parent / link).exists())
        for page in pages
        for link in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8"))
    ]
    assert len(pages) == 3
    assert [(page, link) for page, link, exists in links if not exists] == []
    assert links
