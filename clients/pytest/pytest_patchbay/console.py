"""The console of a node: type, and expect output."""

import codecs
import re
import time

from .api import Api
from .wait import WaitTimeout
from .websocket import WebSocket

# Of output that is kept for `expect`, in characters.
_LONGEST = 1_000_000
_SE, _SB, _WILL, _IAC = 240, 250, 251, 255


class Console:
    """Of a started node. A context manager, which closes it."""

    def __init__(self, api: Api, project_id: str, node_id: str) -> None:
        self._socket = WebSocket(api, f"/v2/projects/{project_id}/nodes/{node_id}/console/ws")
        self._telnet = _TelnetStripper()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.output = ""
        """Output since the last match."""

    def send(self, text: str) -> None:
        """Types a text as it is."""
        self._socket.send(text.encode())

    def send_line(self, line: str = "") -> None:
        """Types a line and Enter."""
        self.send(line + "\r")

    def expect(self, pattern: str | re.Pattern[str], timeout: float = 30.0) -> re.Match[str]:
        """Waits for output that matches a regular expression, and consumes it to the end of the match. `timeout`: seconds.

        Raises WaitTimeout with the end of the output.
        """
        wanted = re.compile(pattern)
        end = time.monotonic() + timeout
        while True:
            match = wanted.search(self.output)
            if match:
                self.output = self.output[match.end() :]
                return match
            left = end - time.monotonic()
            if left <= 0 or self._socket.is_closed:
                reason = "the console was closed" if self._socket.is_closed else f"it did not come within {timeout:g} s"
                raise WaitTimeout(f"Expected {wanted.pattern!r} on the console: {reason}. It shows: {self.output[-500:]!r}")
            data = self._socket.receive(left)
            if data:
                self.output = (self.output + self._decoder.decode(self._telnet.push(data)))[-_LONGEST:]

    def close(self) -> None:
        """The node keeps running."""
        self._socket.close()

    def __enter__(self) -> "Console":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _TelnetStripper:
    """Removes telnet commands (RFC 854), which may be split between messages."""

    def __init__(self) -> None:
        self._state = "data"

    def push(self, data: bytes) -> bytes:
        return bytes(byte for byte in data if self._is_data(byte))

    def _is_data(self, byte: int) -> bool:
        state, self._state = self._state, "data"
        if state == "data":
            if byte != _IAC:
                return True
            self._state = "command"
        elif state == "command":
            if byte == _IAC:
                return True
            if byte == _SB:
                self._state = "sub"
            elif byte >= _WILL:
                self._state = "option"
        elif state == "sub":
            self._state = "sub-command" if byte == _IAC else "sub"
        elif state == "sub-command" and byte != _SE:
            self._state = "sub"
        return False
