"""Folders that other users could have written to, by owner, mode and group."""

from __future__ import annotations

import grp
import os
from pathlib import Path

import pytest

from schedfarm.core import caches
from schedfarm.core.caches import exposed, make_private

ME = 4321


def owned_by(monkeypatch: pytest.MonkeyPatch, members: list[str], name: str = "me") -> None:
    """Let this user be called `me`, and each file's group have a name and members."""
    of_me = caches.pwd.getpwuid(os.geteuid())
    known = type(of_me)(("me", *of_me[1:]))
    monkeypatch.setattr(caches.pwd, "getpwuid", lambda _: known)
    group = grp.struct_group((name, "x", os.getegid(), members))
    monkeypatch.setattr(caches.grp, "getgrgid", lambda _: group)


@pytest.mark.parametrize(
    ("above", "inside", "first"),
    [
        (0o755, 0o700, None),
        (0o755, 0o755, None),
        (0o777, 0o700, "above"),
        (0o1777, 0o700, None),
        (0o1777, 0o1777, "inside"),
        (0o755, 0o702, "inside"),
    ],
)
def test_what_everybody_may_write_is_exposed(
    tmp_path: Path, above: int, inside: int, first: str | None
) -> None:
    """The folder, and one above it unless its sticky bit keeps others from renaming."""
    place = tmp_path / "above" / "inside"
    place.mkdir(parents=True)
    place.chmod(inside)
    place.parent.chmod(above)
    found = exposed(place)
    assert (found and found.name) == first


def test_a_link_is_judged_by_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "open" / "own").mkdir(parents=True)
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "link").symlink_to(tmp_path / "open" / "own")
    assert exposed(tmp_path / "link") == tmp_path / "open"


@pytest.mark.parametrize(
    ("name", "members", "trusted"),
    [
        ("me", [], True),
        ("me", ["me"], True),
        ("me", ["me", "other"], False),
        ("project", [], False),
        ("project", ["me"], False),
    ],
)
def test_a_group_may_write_if_it_is_the_users_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, members: list[str], trusted: bool
) -> None:
    """Where each user has a group, the umask is 002, and a home's folders are open to it."""
    owned_by(monkeypatch, members, name)
    tmp_path.chmod(0o770)
    assert exposed(tmp_path) == (None if trusted else tmp_path)


def test_a_group_that_nobody_knows_is_not_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(group: int) -> None:
        raise KeyError(group)

    monkeypatch.setattr(caches.grp, "getgrgid", unknown)
    tmp_path.chmod(0o770)
    assert exposed(tmp_path) == tmp_path


def test_a_folder_of_another_user_is_exposed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever its mode: its owner can write to it. The superuser's is not."""
    monkeypatch.setattr(caches.os, "geteuid", lambda: ME)
    owner = tmp_path.stat().st_uid
    assert exposed(tmp_path) == (None if owner == 0 else tmp_path)
    if owner == 0:
        os.chown(tmp_path, ME + 1, -1)
        assert exposed(tmp_path) == tmp_path


@pytest.mark.parametrize(
    ("mapped", "trusted"),
    [("0 0 4294967295", False), ("0 1000 1\n1 100000 65536", True), (None, False)],
)
def test_the_user_nobody_is_trusted_only_where_it_stands_for_users_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mapped: str | None, trusted: bool
) -> None:
    """In a user namespace; elsewhere services run as nobody."""

    def read(path: Path) -> str:
        if mapped is None:
            raise FileNotFoundError(path)
        return mapped

    about = tmp_path.stat()
    caches._in_namespace.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_text", read)
        theirs = type(about)((*about[:4], 65534, *about[5:]))
        assert caches._is_foreign(theirs) == (not trusted)
    caches._in_namespace.cache_clear()


def test_a_file_is_judged_as_its_folder_is(tmp_path: Path) -> None:
    """In a sticky folder it is safe, since nobody else can rename it."""
    tmp_path.chmod(0o1777)
    file = tmp_path / "mine.py"
    file.touch(0o644)
    assert exposed(file) is None
    file.chmod(0o666)
    assert exposed(file) == file
    tmp_path.chmod(0o777)
    file.chmod(0o644)
    assert exposed(file) == tmp_path


def test_folders_that_are_made_are_private(tmp_path: Path) -> None:
    """Those above the last one too, which a umask of 002 would open to a group."""
    before = os.umask(0o002)
    try:
        make_private(tmp_path / "one" / "two")
    finally:
        os.umask(before)
    modes = [(tmp_path / name).stat().st_mode & 0o777 for name in ("one", "one/two")]
    assert modes == [0o700, 0o700]
