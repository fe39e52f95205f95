"""TLS certificates of a farm: an authority, and one certificate for scheduler, workers and clients.

Dask accepts every certificate of the authority, regardless of name and host. Each farm therefore
has its own authority, whose keys only the owner can read.
"""

from __future__ import annotations

import datetime
import ipaddress
import json
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schedfarm.cluster.errors import ClusterError
from schedfarm.cluster.settings import CLOSE_HTTP
from schedfarm.core.caches import exposed, remedy

if TYPE_CHECKING:
    from cryptography.x509 import Certificate, CertificateBuilder
    from distributed.security import Security

AUTHORITY, AUTHORITY_KEY = "ca.pem", "ca-key.pem"
CERTIFICATE, KEY = "cert.pem", "key.pem"
CONFIGURATION = "dask.yaml"

DAYS = 365
"""Default validity of a certificate, days."""

AUTHORITY_DAYS = 3650
"""Validity of the authority, days. The authority outlives its certificates, so that peers with an
older certificate accept a renewed certificate."""

SLACK = datetime.timedelta(hours=1)
"""Time before its creation from which a certificate is valid, since the clocks of hosts differ."""

USAGES = (
    "digital_signature",
    "content_commitment",
    "key_encipherment",
    "data_encipherment",
    "key_agreement",
    "key_cert_sign",
    "crl_sign",
    "encipher_only",
    "decipher_only",
)

ROLES = ("scheduler", "worker", "client")


def default_folder() -> Path:
    """Return the default folder of a user's certificates."""
    from platformdirs import user_config_path

    return user_config_path("schedfarm") / "certificates"


def make(folder: Path, *, days: int = DAYS, renew: bool = False) -> datetime.datetime:
    """Create an authority, a certificate signed by it, and Dask's configuration for both.

    With `renew`, the existing authority signs a new certificate. Returns the end of the
    certificate's validity.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     end = make(Path(folder, "farm"), days=30)
    ...     sorted(path.name for path in Path(folder, "farm").iterdir())
    ['ca-key.pem', 'ca.pem', 'cert.pem', 'dask.yaml', 'key.pem']
    """
    there = (folder / AUTHORITY_KEY).exists()
    if there and not renew:
        raise ClusterError(
            f"certificates {folder}: an authority exists already; --renew signs a new certificate "
            "with it"
        )
    if renew and not there:
        raise ClusterError(f"certificates {folder}: there is no {AUTHORITY_KEY} to sign a new one")
    if not 1 <= days <= AUTHORITY_DAYS:
        raise ClusterError(f"days is {days}; it must be from 1 to {AUTHORITY_DAYS}")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if (open_to_others := exposed(folder)) is not None:
            raise ClusterError(
                f"certificates {folder}: no place for keys, because {remedy(open_to_others)}"
            )
        if not renew:
            _make_authority(folder)
        end = _sign(folder, days)
        _write(folder / CONFIGURATION, _configuration(folder.absolute()).encode())
    except OSError as error:
        raise ClusterError(
            f"certificates {error.filename or folder}: {error.strerror or error}"
        ) from None
    return end


def security(folder: Path | None = None) -> Security:
    """Return the certificates as Dask's Security; missing certificates are created."""
    here = found(folder)
    if here is None:
        make(folder or default_folder())
        here = found(folder)
    assert here is not None
    return here


def found(folder: Path | None = None) -> Security | None:
    """Return the certificates as Dask's Security; None without certificates.

    The certificates of `folder` take precedence, then those of Dask's configuration, then those of
    `default_folder`. A given folder without certificates is refused. Certificates that are
    incomplete, expired or accessible to other users are refused, too.
    """
    import dask
    from distributed.security import Security

    if folder is None and dask.config.get("distributed.comm.tls.ca-file", None):
        return _checked(Security(require_encryption=True))
    where = folder or default_folder()
    if not (where / AUTHORITY).exists():
        if folder is None:
            return None
        raise ClusterError(
            f"certificates {where}: {AUTHORITY} does not exist; 'farm certificates {where}' makes "
            "it"
        )
    _check_validity(where)
    pair = {"cert": str(where / CERTIFICATE), "key": str(where / KEY)}
    named = {f"tls_{role}_{what}": path for role in ROLES for what, path in pair.items()}
    known = Security(tls_ca_file=str(where / AUTHORITY), require_encryption=True, **named)
    return _checked(known, *where.glob(AUTHORITY_KEY))


def _check_validity(folder: Path) -> None:
    from cryptography.x509 import load_pem_x509_certificate

    path = folder / CERTIFICATE
    try:
        end = load_pem_x509_certificate(path.read_bytes()).not_valid_after_utc
    except OSError as error:
        raise ClusterError(f"certificates {error.filename}: {error.strerror}") from None
    except ValueError:
        raise ClusterError(f"certificates {path}: not a certificate in PEM form") from None
    if end < _now():
        raise ClusterError(
            f"certificates {path}: its validity ended on {end:%Y-%m-%d}; 'farm certificates "
            f"{folder} --renew' makes a new one"
        )


def _checked(security: Security, *more_keys: Path) -> Security:
    """Refuse files that other users could have written, and keys that other users can read."""
    fields = [name for name in security.__slots__ if name.endswith(("_ca_file", "_cert", "_key"))]
    named = {name: getattr(security, name) for name in fields}
    # Dask also accepts the text of a certificate instead of a file name.
    files = {name: Path(text) for name, text in named.items() if text and "\n" not in text}
    keys = {path for name, path in files.items() if name.endswith("_key")} | set(more_keys)
    for path in sorted({*files.values(), *keys}):
        try:
            open_to_others, mode = exposed(path), stat.S_IMODE(path.stat().st_mode)
        except OSError as error:
            raise ClusterError(f"certificates {path}: {error.strerror}") from None
        if open_to_others is not None:
            raise ClusterError(
                f"certificates {path}: not safe to use, because {remedy(open_to_others)}; then "
                "make new ones"
            )
        if path in keys and mode & 0o077:
            raise ClusterError(
                f"certificates {path}: other users may read it and connect; make new ones in a "
                "folder of your own"
            )
    return security


def _make_authority(folder: Path) -> None:
    from cryptography.hazmat.primitives import hashes
    from cryptography.x509 import BasicConstraints, KeyUsage, SubjectKeyIdentifier

    key, name = _new_key(), _name("schedfarm authority")
    signs = {usage: usage in ("key_cert_sign", "crl_sign") for usage in USAGES}
    builder = (
        _builder(AUTHORITY_DAYS)
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .add_extension(BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(KeyUsage(**signs), critical=True)
        # Python 3.13 requires this identifier in the authority, and a reference to it in
        # certificates.
        .add_extension(SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
    _write(folder / AUTHORITY_KEY, _pem(key))
    _write(folder / AUTHORITY, _public(builder.sign(key, hashes.SHA256())))


def _sign(folder: Path, days: int) -> datetime.datetime:
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.serialization import load_pem_private_key
    from cryptography.x509 import (
        AuthorityKeyIdentifier,
        BasicConstraints,
        DNSName,
        ExtendedKeyUsage,
        IPAddress,
        SubjectAlternativeName,
        load_pem_x509_certificate,
    )
    from cryptography.x509.oid import ExtendedKeyUsageOID

    authority = load_pem_x509_certificate((folder / AUTHORITY).read_bytes())
    signer: Any = load_pem_private_key((folder / AUTHORITY_KEY).read_bytes(), None)
    loopback = IPAddress(ipaddress.ip_address("127.0.0.1"))
    issuer = AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key())
    both = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
    key = _new_key()
    signed = (
        _builder(days)
        .subject_name(_name("schedfarm"))
        .issuer_name(authority.subject)
        .public_key(key.public_key())
        .add_extension(BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(SubjectAlternativeName([DNSName("localhost"), loopback]), critical=False)
        .add_extension(ExtendedKeyUsage(both), critical=False)
        .add_extension(issuer, critical=False)
        .sign(signer, hashes.SHA256())
    )
    _write(folder / KEY, _pem(key))
    _write(folder / CERTIFICATE, _public(signed))
    return signed.not_valid_after_utc


def _configuration(folder: Path) -> str:
    pair = f"{{cert: {_quoted(folder / CERTIFICATE)}, key: {_quoted(folder / KEY)}}}"
    roles = "\n".join(f"      {role}: {pair}" for role in ROLES)
    return (
        "distributed:\n"
        "  scheduler:\n"
        f"    preload: [{CLOSE_HTTP}]\n"
        "  worker:\n"
        f"    preload: [{CLOSE_HTTP}]\n"
        "  comm:\n"
        "    default-scheme: tls\n"
        "    require-encryption: true\n"
        "    tls:\n"
        f"      ca-file: {_quoted(folder / AUTHORITY)}\n"
        f"{roles}\n"
    )


def _quoted(path: Path) -> str:
    return json.dumps(str(path))


def _builder(days: int) -> CertificateBuilder:
    from cryptography.x509 import CertificateBuilder, random_serial_number

    return (
        CertificateBuilder()
        .serial_number(random_serial_number())
        .not_valid_before(_now() - SLACK)
        .not_valid_after(_now() + datetime.timedelta(days=days))
    )


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


def _name(text: str) -> Any:
    from cryptography.x509 import Name, NameAttribute
    from cryptography.x509.oid import NameOID

    return Name([NameAttribute(NameOID.COMMON_NAME, text)])


def _new_key() -> Any:
    from cryptography.hazmat.primitives.asymmetric import ec

    return ec.generate_private_key(ec.SECP256R1())


def _pem(key: Any) -> bytes:
    from cryptography.hazmat.primitives.serialization import (
        Encoding,
        NoEncryption,
        PrivateFormat,
    )

    pem: bytes = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return pem


def _public(certificate: Certificate) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding

    return certificate.public_bytes(Encoding.PEM)


def _write(path: Path, text: bytes) -> None:
    """Write a file that only its owner can read, even while it is written."""
    path.unlink(missing_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as stream:
        stream.write(text)
