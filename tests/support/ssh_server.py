"""An SSH server on the loopback interface without authentication."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import asyncssh


class Open(asyncssh.SSHServer):  # type: ignore[misc]
    """Require no authentication."""

    def begin_auth(self, username: str) -> bool:
        return False


async def handle(process: Any) -> None:
    pipe = subprocess.PIPE
    shell = subprocess.Popen(process.command, shell=True, stdin=pipe, stdout=pipe, stderr=pipe)
    await process.redirect(stdin=shell.stdin, stdout=shell.stdout, stderr=shell.stderr)
    await process.stdout.drain()
    await process.stderr.drain()
    while shell.poll() is None:
        await asyncio.sleep(0.1)
    process.exit(shell.returncode)


async def serve(known: Path) -> None:
    """Serve until killed; write the file of known hosts once clients can come."""
    key = asyncssh.generate_private_key("ssh-ed25519")
    server = await asyncssh.create_server(
        Open, "127.0.0.1", 0, server_host_keys=[key], process_factory=handle
    )
    port = server.sockets[0].getsockname()[1]
    public = key.export_public_key().decode()
    new = known.with_suffix(".new")
    new.write_text(f"[127.0.0.1]:{port} {public}")
    new.replace(known)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1])))
