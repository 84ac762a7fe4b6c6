"""Requests to a server. Address and login are those of `patchbay lab`: PATCHBAY_URL, PATCHBAY_USER, PATCHBAY_PASSWORD, the netrc file."""

import base64
import http.client
import json
import netrc
import os
import ssl
from typing import Any
from urllib.parse import unquote, urlsplit

# Nodes may boot, and images be copied, before an answer comes. Seconds.
ANSWER_LIMIT = 1200.0


class PatchbayError(Exception):
    """An answer that is no success, with the server's sentence. `status` 0: there was no answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Api:
    """JSON over HTTP or HTTPS, one connection for each request."""

    def __init__(self, url: str, user: str | None = None, password: str | None = None) -> None:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url!r} is not the address of a server: write http://HOST:PORT or https://HOST:PORT")
        self.is_secure = parts.scheme == "https"
        self.host: str = parts.hostname
        self.port = parts.port or (443 if self.is_secure else 80)
        self.prefix = parts.path.rstrip("/")
        self.url = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{self.prefix}"
        self.user = user or unquote(parts.username or "") or None
        self.password = password or unquote(parts.password or "") or None

    @classmethod
    def from_environment(cls, url: str | None = None) -> "Api":
        """The server that the environment names."""
        env = os.environ
        api = cls(url or env.get("PATCHBAY_URL") or "http://127.0.0.1:3080", env.get("PATCHBAY_USER"), env.get("PATCHBAY_PASSWORD"))
        if api.user is None or api.password is None:
            api._read_netrc()
        return api

    def _read_netrc(self) -> None:
        try:
            entry = netrc.netrc(os.environ.get("NETRC") or None).authenticators(self.host)
        except (OSError, netrc.NetrcParseError):
            return
        if entry and self.user in (None, entry[0]):
            self.user, self.password = entry[0], entry[2]

    @property
    def headers(self) -> dict[str, str]:
        """Those of each request."""
        if self.user is None:
            return {"User-Agent": "pytest-patchbay"}
        token = base64.b64encode(f"{self.user}:{self.password or ''}".encode()).decode()
        return {"User-Agent": "pytest-patchbay", "Authorization": f"Basic {token}"}

    def ssl_context(self) -> ssl.SSLContext:
        """Verifies certificates. NODE_EXTRA_CA_CERTS names those of a private authority, as for `patchbay lab`."""
        return ssl.create_default_context(cafile=os.environ.get("NODE_EXTRA_CA_CERTS") or None)

    def request(self, method: str, path: str, body: Any = None) -> bytes:
        """The body of the answer. Raises PatchbayError."""
        content = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        if self.is_secure:
            connection: http.client.HTTPConnection = http.client.HTTPSConnection(
                self.host, self.port, timeout=ANSWER_LIMIT, context=self.ssl_context()
            )
        else:
            connection = http.client.HTTPConnection(self.host, self.port, timeout=ANSWER_LIMIT)
        try:
            connection.request(method, self.prefix + path, content, {**self.headers, "Content-Type": "application/json"})
            answer = connection.getresponse()
            data = answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise PatchbayError(0, f"No answer from {self.url}: {error}") from error
        finally:
            connection.close()
        if not 200 <= answer.status < 300:
            raise PatchbayError(answer.status, _message_of(data, answer.status))
        return data

    def json(self, method: str, path: str, body: Any = None) -> Any:
        """The answer, None where it is empty. Raises PatchbayError."""
        data = self.request(method, path, body)
        return json.loads(data) if data else None


def _message_of(data: bytes, status: int) -> str:
    try:
        message = json.loads(data)["message"]
    except (ValueError, KeyError, TypeError):
        message = None
    return message if isinstance(message, str) else f"The server answered with status {status}"
