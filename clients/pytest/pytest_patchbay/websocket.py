"""A WebSocket client, as far as consoles need one: RFC 6455, without extensions."""

import base64
import os
import socket
import struct
from hashlib import sha1

from .api import Api, PatchbayError

# RFC 6455, section 1.3.
_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_CONTINUATION, _TEXT, _BINARY, _CLOSE, _PING, _PONG = 0x0, 0x1, 0x2, 0x8, 0x9, 0xA
# Seconds.
_CONNECT_LIMIT = 30.0
_MOST_HEAD = 65536


class WebSocket:
    """Opened by the constructor; carries the credentials of the API. Raises PatchbayError."""

    def __init__(self, api: Api, path: str) -> None:
        self._buffer = b""
        self.is_closed = False
        try:
            self._socket: socket.socket = socket.create_connection((api.host, api.port), _CONNECT_LIMIT)
            if api.is_secure:
                self._socket = api.ssl_context().wrap_socket(self._socket, server_hostname=api.host)
        except OSError as error:
            raise PatchbayError(0, f"No answer from {api.url}: {error}") from error
        try:
            self._open(api, path)
        except OSError as error:
            self._socket.close()
            raise PatchbayError(0, f"No answer from {api.url}: {error}") from error
        except PatchbayError:
            self._socket.close()
            raise

    def _open(self, api: Api, path: str) -> None:
        key = base64.b64encode(os.urandom(16)).decode()
        host = f"[{api.host}]" if ":" in api.host else api.host
        fields = {
            "Host": f"{host}:{api.port}",
            "Upgrade": "websocket",
            "Connection": "Upgrade",
            "Sec-WebSocket-Key": key,
            "Sec-WebSocket-Version": "13",
            **api.headers,
        }
        lines = [f"GET {api.prefix}{path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items()), "", ""]
        self._socket.sendall("\r\n".join(lines).encode())
        while b"\r\n\r\n" not in self._buffer:
            data = self._socket.recv(4096)
            if not data or len(self._buffer) > _MOST_HEAD:
                raise PatchbayError(0, "The server closed the connection of a console")
            self._buffer += data
        head, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
        status = int(head.split(b" ", 2)[1])
        accept = base64.b64encode(sha1((key + _GUID).encode()).digest()).decode()
        if status != 101 or accept.lower() not in head.decode("latin-1").lower():
            raise PatchbayError(status, f"The console cannot be opened (status {status}): is the node started?")

    def send(self, data: bytes) -> None:
        """One binary message."""
        self._send(_BINARY, data)

    def receive(self, timeout: float) -> bytes | None:
        """Data as it comes, None when there was none in time. Pings are answered. Sets `is_closed` at the end."""
        frame = self._frame()
        if frame is None:
            self._socket.settimeout(max(timeout, 0.001))
            try:
                data = self._socket.recv(65536)
            except TimeoutError:
                return None
            except OSError:
                data = b""
            if not data:
                self.is_closed = True
                return None
            self._buffer += data
            return b""
        opcode, payload = frame
        if opcode == _PING:
            self._send(_PONG, payload)
        elif opcode == _CLOSE:
            self.close()
        elif opcode in (_CONTINUATION, _TEXT, _BINARY):
            return payload
        return b""

    def close(self) -> None:
        """Ends the connection."""
        if self.is_closed:
            return
        try:
            self._send(_CLOSE, b"")
        except OSError:
            # The server has closed it already.
            pass
        self.is_closed = True
        self._socket.close()

    def _frame(self) -> tuple[int, bytes] | None:
        """The next complete frame of the buffer. Those of servers are not masked."""
        data = self._buffer
        if len(data) < 2:
            return None
        size, at = data[1] & 0x7F, 2
        if size == 126:
            if len(data) < 4:
                return None
            size, at = struct.unpack_from("!H", data, 2)[0], 4
        elif size == 127:
            if len(data) < 10:
                return None
            size, at = struct.unpack_from("!Q", data, 2)[0], 10
        if len(data) < at + size:
            return None
        self._buffer = data[at + size :]
        return data[0] & 0x0F, data[at : at + size]

    def _send(self, opcode: int, payload: bytes) -> None:
        size = len(payload)
        head = bytes([0x80 | opcode])
        if size < 126:
            head += bytes([0x80 | size])
        elif size < 65536:
            head += struct.pack("!BH", 0x80 | 126, size)
        else:
            head += struct.pack("!BQ", 0x80 | 127, size)
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[index % 4] for index, byte in enumerate(payload))
        self._socket.settimeout(_CONNECT_LIMIT)
        self._socket.sendall(head + mask + masked)
