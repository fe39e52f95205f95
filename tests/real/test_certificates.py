"""A farm's certificates let its own programs in, and nobody else: none, a foreign or an old one."""

from __future__ import annotations

import gc
import shutil
import stat
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import dask
import pytest
from distributed import Client
from distributed.security import Security

from schedfarm.cluster import ClusterError, certificates
from schedfarm.cluster.certificates import found, make, security
from tests.real.test_existing_cluster import CAMPAIGN
from tests.support.dask_processes import Site, site
from tests.support.harness import PATIENCE, counts, farm as farm_process


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certificates") / "mine"
    make(folder, days=30)
    return folder


@pytest.fixture(scope="module")
def there(mine: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A scheduler and a worker that are told of nothing but Dask's configuration in the folder."""
    configured = {"DASK_CONFIG": str(mine / certificates.CONFIGURATION)}
    with site(tmp_path_factory.mktemp("tls"), **configured) as one:
        one.worker(**configured)
        yield one


def is_let_in(address: str, known: Security | None) -> bool:
    try:
        with Client(address, security=known, timeout=5) as client:
            return bool(client.submit(sum, [1, 2]).result(PATIENCE) == 3)
    except (OSError, ValueError, TypeError):
        answered = False
    # A client that was refused closes itself when it is collected: now, and not in the midst of
    # the next one's start, which never ends then.
    gc.collect()
    return answered


def test_who_has_the_certificate_is_let_in(there: Site, mine: Path) -> None:
    assert there.address.startswith("tls://127.0.0.1:")
    assert is_let_in(there.address, security(mine))


def test_a_renewed_one_is_let_in_by_the_authority_of_before(
    there: Site, mine: Path, tmp_path: Path
) -> None:
    renewed = tmp_path / "renewed"
    renewed.mkdir(mode=0o700)
    for name in ("ca.pem", "ca-key.pem"):
        shutil.copy(mine / name, renewed)
    make(renewed, renew=True)
    assert (renewed / "cert.pem").read_bytes() != (mine / "cert.pem").read_bytes()
    assert is_let_in(there.address, security(renewed))


def test_nobody_else_is(
    there: Site, mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = there.address
    assert not is_let_in(address, None)
    assert not is_let_in(address.replace("tls://", "tcp://"), None)
    assert not is_let_in(address, Security(tls_ca_file=str(mine / "ca.pem")))
    make(tmp_path / "foreign")
    assert not is_let_in(address, security(tmp_path / "foreign"))
    # One that knows the right authority, but that another has signed.
    foreign = tmp_path / "foreign"
    (foreign / "ca.pem").write_bytes((mine / "ca.pem").read_bytes())
    assert not is_let_in(address, security(foreign))


def test_an_expired_one_is_refused_by_the_scheduler_and_said_before(
    there: Site, mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "old"
    old.mkdir(mode=0o700)
    for name in ("ca.pem", "ca-key.pem"):
        shutil.copy(mine / name, old)
    now = certificates._now()
    monkeypatch.setattr(certificates, "_now", lambda: now - timedelta(days=2))
    make(old, days=1, renew=True)
    known = found(old)
    monkeypatch.undo()
    assert not is_let_in(there.address, known)
    with pytest.raises(ClusterError, match=r"cert.pem: its validity ended on .* --renew"):
        found(old)


def test_a_campaign_runs_with_it_and_not_without(
    there: Site, mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    (tmp_path / "there.toml").write_text(CAMPAIGN.to_toml())
    command = ["run", "there.toml", "--on", there.address, "--store", "s"]
    without = farm_process(tmp_path, *command)
    assert without.returncode == 2
    assert "requires certificates, and there are none in Dask's configuration" in without.stderr
    assert not (tmp_path / "s").exists()
    named = farm_process(tmp_path, *command, "--certificates", str(mine))
    assert (named.returncode, counts(named.stdout)["done"]) == (0, 16), named.stderr


def test_the_command_makes_them(tmp_path: Path) -> None:
    done = farm_process(tmp_path, "certificates", "here", "--days", "3")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"DASK_CONFIG={tmp_path / 'here' / 'dask.yaml'}" in done.stdout
    assert found(tmp_path / "here") is not None
    again = farm_process(tmp_path, "certificates", "here")
    assert (again.returncode, again.stdout) == (2, "")
    assert again.stderr.count("\n") == 1


def test_its_files_are_its_owners(mine: Path) -> None:
    assert {stat.S_IMODE(path.stat().st_mode) for path in mine.iterdir()} == {0o600}
    assert stat.S_IMODE(mine.stat().st_mode) == 0o700


def test_a_key_that_others_read_is_refused(tmp_path: Path) -> None:
    make(tmp_path / "open")
    (tmp_path / "open" / "key.pem").chmod(0o644)
    with pytest.raises(ClusterError, match=r"key.pem: other users may read it"):
        found(tmp_path / "open")


@pytest.mark.parametrize("opened", [".", "ca.pem", "cert.pem", "key.pem", "ca-key.pem"])
def test_what_others_can_replace_is_refused(tmp_path: Path, opened: str) -> None:
    """Whoever puts an authority of theirs in its place is let in."""
    folder = tmp_path / "open"
    make(folder)
    place = folder / opened
    place.chmod(place.stat().st_mode | 0o022)
    with pytest.raises(ClusterError, match=rf"not safe to use, .* chmod go-w {place}; then make"):
        found(folder)


def test_no_keys_are_made_where_others_can_replace_them(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    with pytest.raises(ClusterError, match=rf"no place for keys, .* chmod go-w {tmp_path}"):
        make(tmp_path / "here")
    assert list((tmp_path / "here").iterdir()) == []


def test_those_that_dask_names_are_looked_at_as_well(mine: Path, tmp_path: Path) -> None:
    authority = tmp_path / "ca.pem"
    authority.write_bytes((mine / "ca.pem").read_bytes())
    authority.chmod(0o666)
    with dask.config.set({"distributed.comm.tls.ca-file": str(authority)}):
        with pytest.raises(ClusterError, match=rf"chmod go-w {authority}"):
            found()
        authority.chmod(0o644)
        assert found() is not None
        text = (mine / "ca.pem").read_text()
    with dask.config.set({"distributed.comm.tls.ca-file": text}):
        assert found() is not None


def test_what_cannot_be_used_is_a_sentence(mine: Path, tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match="an authority exists already; --renew"):
        make(mine)
    with pytest.raises(ClusterError, match=r"there is no ca-key.pem to sign"):
        make(tmp_path / "none", renew=True)
    with pytest.raises(ClusterError, match="days is 0; it must be from 1 to 3650"):
        make(tmp_path / "none", days=0)
    with pytest.raises(ClusterError, match=r"ca.pem does not exist; 'farm certificates"):
        found(tmp_path / "none")
    (tmp_path / "file").write_text("")
    with pytest.raises(ClusterError, match="Not a directory"):
        make(tmp_path / "file" / "below")


def test_dasks_own_configuration_goes_first(mine: Path, tmp_path: Path) -> None:
    elsewhere = str(tmp_path / "elsewhere.pem")
    with dask.config.set({"distributed.comm.tls.ca-file": elsewhere}):
        with pytest.raises(ClusterError, match=r"elsewhere.pem: No such file"):
            found()
        Path(elsewhere).write_bytes((mine / "ca.pem").read_bytes())
        known = found()
    assert known is not None
    assert (known.tls_ca_file, known.require_encryption) == (elsewhere, True)
