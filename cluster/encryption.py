"""Checks of the encryption of a scheduler's connections."""

from __future__ import annotations

import ipaddress
import socket
from typing import TYPE_CHECKING

from schedfarm.cluster.errors import ClusterError

if TYPE_CHECKING:
    from distributed import Client

PLAIN = ("tcp://", "ws://")
"""Prefixes of unencrypted addresses."""

ENCRYPTED = ("tls://", "wss://")
"""Prefixes of addresses that require a certificate."""

EXPOSED = (
    "is not encrypted and has no authentication: anyone who reaches it{} can run code as you and "
    "as its workers"
)

REMEDY = "'farm certificates' makes certificates for a scheduler with a tls:// address"


def check_encrypted(address: str, *, insecure: bool = False) -> None:
    """Refuse an unencrypted scheduler on a network, unless `insecure`.

    Examples
    --------
    >>> check_encrypted("tls://10.0.0.1:8786"), check_encrypted("tcp://127.0.0.1:8786")
    (None, None)
    >>> check_encrypted("tcp://10.0.0.1:8786")
    Traceback (most recent call last):
    schedfarm.cluster.errors.ClusterError: tcp://10.0.0.1:8786 is not encrypted and has no
    authentication: \
anyone who reaches it over the network can run code as you and as its workers; 'farm \
certificates' makes certificates for a scheduler with a tls:// address, and --insecure accepts \
this one
    """
    if insecure or not address.startswith(PLAIN) or is_loopback(address):
        return
    raise ClusterError(
        f"{address} {EXPOSED.format(' over the network')}; {REMEDY}, and --insecure accepts this "
        "one"
    )


def exposure(client: Client) -> str:
    """Return a warning about an unencrypted cluster; empty if it is encrypted.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> exposure(SimpleNamespace(scheduler=SimpleNamespace(address="tls://10.0.0.1:8786")))
    ''
    """
    address = client.scheduler.address if client.scheduler else ""
    if not address.startswith(PLAIN):
        return ""
    who = ", such as any user of its machine," if is_loopback(address) else " over the network"
    return f"{address} {EXPOSED.format(who)}; {REMEDY}"


def is_loopback(address: str) -> bool:
    """Return whether an address can only mean this machine's loopback interface.

    Examples
    --------
    >>> [is_loopback(f"tcp://{host}:1") for host in ("127.0.0.1", "[::1]", "0.0.0.0", "10.1.2.3")]
    [True, True, False, False]
    """
    host = address.partition("://")[2].rpartition(":")[0].strip("[]")
    try:
        meant = {line[4][0] for line in socket.getaddrinfo(host, None)}
    except (OSError, UnicodeError):
        return False
    return all(ipaddress.ip_address(str(one).partition("%")[0]).is_loopback for one in meant)
