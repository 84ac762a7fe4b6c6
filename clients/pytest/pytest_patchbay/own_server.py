"""A server for the time of a test session: on a free port, with its own state, which is removed with it."""

import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .api import Api

# For one that hangs. Seconds.
_END_LIMIT = 60.0


@contextmanager
def own_server(command: str) -> Iterator[Api]:
    """`command`: the program, as in a shell. Raises RuntimeError with what it wrote when it does not start."""
    folder = Path(tempfile.mkdtemp(prefix="patchbay-pytest-"))
    log = folder / "log"
    # The server ends when its standard input does: also when this process is killed.
    options = ["--port", "0", "--data-dir", str(folder / "data"), "--stop-nodes", "--until-stdin-ends"]
    try:
        with log.open("wb") as errors, subprocess.Popen(
            [*shlex.split(command), "serve", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors
        ) as server:
            try:
                yield Api(_address_of(server, log))
            finally:
                server.terminate()
                try:
                    server.wait(_END_LIMIT)
                except subprocess.TimeoutExpired:
                    server.kill()
    except FileNotFoundError as error:
        raise RuntimeError(f"{command} cannot be started: {error}. Name a server by PATCHBAY_URL, or the command") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _address_of(server: "subprocess.Popen[bytes]", log: Path) -> str:
    assert server.stdout is not None
    for line in server.stdout:
        found = re.match(rb"Patchbay \S+ listening on (https?:\S+)", line)
        if found:
            return found[1].decode()
    raise RuntimeError(f"the server of these tests ended at once: {log.read_text(errors='replace')[-2000:]}")
