"""Addresses of stores in buckets, ``s3://BUCKET/NAME``, and errors of their servers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from schedfarm.core.errors import InputError

SCHEMES = ("s3", "s3a", "gs", "az", "azure", "adl", "abfs", "abfss")
"""Schemes of bucket addresses."""

VARIABLES = ("AWS_", "GOOGLE_", "AZURE_")
"""Prefixes of the environment variables with credentials, endpoints and options."""

SECRETS = {
    "s3": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS",
    "az": "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
}
"""Variables for the credentials of each scheme, by the first letters of the scheme."""

CONNECT, TIMEOUT = timedelta(seconds=3), timedelta(seconds=30)
"""Timeouts of a connection, 3 s, and of a request, 30 s, enough for 64 MiB at 2 MiB/s."""

RETRIES, RETRY = 3, timedelta(seconds=10)
"""Largest number of repetitions of a request without an answer, and the period for them."""

FORBIDDEN = ("PermissionDeniedError", "UnauthenticatedError")

MISSING = "pip install 'schedfarm[s3]' installs the package obstore, which object stores need"

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")


def scheme_of(text: str) -> str:
    """Return the scheme of an address; empty for the path of a folder.

    Examples
    --------
    >>> scheme_of("s3://waits/kth.farm"), scheme_of("kth.farm")
    ('s3', '')
    """
    found = _SCHEME.match(text)
    return found[1] if found else ""


def checked_address(text: str) -> str:
    """Return an address in canonical form; refuse an address with a user or a password.

    Examples
    --------
    >>> checked_address("s3://waits/2024/kth.farm/")
    's3://waits/2024/kth.farm'
    >>> checked_address("s3://me:secret@waits/kth.farm")
    Traceback (most recent call last):
    schedfarm.core.errors.InputError: store s3://...@waits/kth.farm: an address must not
    contain a user or a password; give them in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY
    """
    said, scheme = re.sub(r"//[^/]*@", "//...@", text), scheme_of(text)
    if scheme not in SCHEMES:
        raise InputError(
            f"store {said}: give a folder, or a prefix in a bucket such as s3://BUCKET/kth.farm; "
            f"{scheme} is none of {', '.join(SCHEMES)}"
        )
    try:
        parts = urlsplit(text)
    except ValueError as error:
        raise InputError(f"store {said}: {error}; give {scheme}://BUCKET/kth.farm") from None
    # Azure's long form is CONTAINER@ACCOUNT.dfs.core.windows.net; CONTAINER is not a user.
    if parts.password is not None or (parts.username is not None and scheme[:4] != "abfs"):
        raise InputError(
            f"store {said}: an address must not contain a user or a password; give them in "
            f"{_secrets(text)}"
        )
    names = [name for name in parts.path.split("/") if name]
    if not parts.netloc or not names or {".", ".."} & {*names} or parts.query or parts.fragment:
        raise InputError(
            f"store {said}: name a bucket and a store in it, such as {scheme}://BUCKET/kth.farm"
        )
    return f"{scheme}://{parts.netloc}/{'/'.join(names)}"


def settings(environment: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return the environment variables that affect a connection, sorted by name.

    Examples
    --------
    >>> settings({"HOME": "/root", "AWS_REGION": "us-east-1"})
    (('AWS_REGION', 'us-east-1'),)
    """
    return tuple(sorted(one for one in environment.items() if one[0].startswith(VARIABLES)))


def connection(environment: Mapping[str, str]) -> dict[str, Any]:
    """Return the options for obstore: short timeouts, and plain HTTP only if a variable allows it.

    Examples
    --------
    >>> connection({"AWS_ALLOW_HTTP": "true"})["client_options"]["allow_http"]
    True
    """
    allowed = environment.get("AWS_ALLOW_HTTP", "").lower() in ("1", "true", "yes")
    return {
        "client_options": {"connect_timeout": CONNECT, "timeout": TIMEOUT, "allow_http": allowed},
        "retry_config": {
            "max_retries": RETRIES,
            "retry_timeout": RETRY,
            "backoff": {"max_backoff": timedelta(seconds=2)},
        },
    }


def is_answer(error: Exception) -> bool:
    """Return whether an error was raised by obstore, for a request or for a wrong setting."""
    return type(error).__module__.startswith("obstore") or isinstance(error, ValueError)


def is_refusal(error: Exception) -> bool:
    """Return whether an error means that access was denied."""
    said = str(error)
    return type(error).__name__ in FORBIDDEN or "403 Forbidden" in said or "401 Unauth" in said


def reason(text: str, error: Exception) -> str:
    """Return the error message of an object store, with keys and signatures removed.

    Examples
    --------
    >>> reason("s3://waits/kth.farm", Exception("404 Not Found: <Code>NoSuchBucket</Code>"))
    'there is no bucket waits'
    """
    said = str(error).partition("\n\nDebug source")[0]
    code = re.search(r"<Code>(\w+)</Code>", said)
    word = f" ({code[1]})" if code else ""
    if code and code[1] == "NoSuchBucket":
        return f"there is no bucket {text.split('/')[2]}"
    if "169.254.169.254" in said or "metadata" in said:
        return f"credentials are missing; set {_secrets(text)}"
    if is_refusal(error):
        return f"access is refused{word}; check {_secrets(text)}"
    if "builder error" in said:
        return "its endpoint is plain http, which AWS_ALLOW_HTTP=true allows, or no address"
    if "error sending request" in said or "timed out" in said:
        host = re.search(r"https?://(?:[^/@\s]*@)?([^/\s?]+)", said)
        where = f" from {host[1]}" if host else ""
        return f"no answer{where}; check the endpoint in AWS_ENDPOINT_URL, and the network"
    status = re.search(r"status code: (\d+ [\w ]+)", said)
    if status:
        return f"it answered {status[1].strip()}{word}"
    return re.sub(r"//[^/\s]*@", "//...@", said.partition("\n")[0])[:200]


def _secrets(text: str) -> str:
    return SECRETS.get(text[:2], SECRETS["az"])
