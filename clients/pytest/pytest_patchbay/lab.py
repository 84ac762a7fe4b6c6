"""A lab on a server: a project that was made from a lab file, its nodes and links by their names."""

import json
import secrets
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .api import Api, PatchbayError
from .console import Console
from .wait import wait_until

# Files below the folder of a lab file: folders are not read beyond this number.
_MOST_FILES = 5000
# Of one file, as of a lab file. Bytes.
_LONGEST_FILE = 1_048_576


class Lab:
    """A project. `Lab.apply` makes one."""

    def __init__(self, api: Api, project_id: str, name: str) -> None:
        self.api = api
        self.project_id = project_id
        self.name = name

    @classmethod
    def apply(
        cls, api: Api, file: Path, variables: Mapping[str, Any] | None = None, files: Iterable[str] = (), start: bool = True
    ) -> "Lab":
        """Makes a project of a name of its own, so that tests side by side do not meet. `files`: patterns of files that the lab names
        by variables; others are found by their names in it. Raises PatchbayError, and leaves nothing then."""
        name = f"{file.stem}-test-{secrets.token_hex(4)}"
        project = api.json("POST", "/v2/projects", {"name": name})
        lab = cls(api, project["project_id"], name)
        try:
            lab.update(file, variables, files, start)
        except BaseException:
            lab.destroy()
            raise
        return lab

    def update(
        self, file: Path, variables: Mapping[str, Any] | None = None, files: Iterable[str] = (), start: bool = False
    ) -> None:
        """Changes the project until it is as the file says. Raises PatchbayError, also when it could be done only in part."""
        text = file.read_text(encoding="utf-8")
        sent = {
            "lab": text,
            "file": file.name,
            "files": named_files(file, text, files),
            "vars": dict(variables or {}),
            "project": self.project_id,
            "start": start,
        }
        lines = self.api.request("POST", "/v2/labs/apply", sent).decode().strip().splitlines()
        failure = json.loads(lines[-1]).get("failure") if lines else "the server ended before the lab was applied"
        if failure:
            raise PatchbayError(409, failure)

    @property
    def path(self) -> str:
        return f"/v2/projects/{self.project_id}"

    def nodes(self) -> list["Node"]:
        return [Node(self, node) for node in self.api.json("GET", f"{self.path}/nodes")]

    def node(self, name: str) -> "Node":
        """Raises KeyError."""
        for node in self.nodes():
            if node.name == name:
                return node
        raise KeyError(f"{self.name} has no node {name!r}")

    def links(self) -> list["Link"]:
        return [Link(self, link) for link in self.api.json("GET", f"{self.path}/links")]

    def link(self, one: str, other: str) -> "Link":
        """The link between two nodes. Raises KeyError when there is none, or several."""
        ends = sorted([self.node(one).node_id, self.node(other).node_id])
        found = [link for link in self.links() if sorted(link.node_ids) == ends]
        if len(found) == 1:
            return found[0]
        raise KeyError(f"there {'are several links' if found else 'is no link'} between {one} and {other}")

    def start(self) -> None:
        """All nodes."""
        self.api.json("POST", f"{self.path}/nodes/start", {})

    def stop(self) -> None:
        self.api.json("POST", f"{self.path}/nodes/stop", {})

    def destroy(self) -> None:
        """Deletes the project with its files."""
        self.api.json("POST", f"{self.path}/close", {})
        self.api.json("DELETE", self.path)


class Node:
    """A node, as it was when it was read."""

    def __init__(self, lab: Lab, node: Mapping[str, Any]) -> None:
        self.lab = lab
        self.node_id: str = node["node_id"]
        self.name: str = node["name"]

    @property
    def path(self) -> str:
        return f"{self.lab.path}/nodes/{self.node_id}"

    @property
    def status(self) -> str:
        """Now: started, stopped or suspended."""
        return self.lab.api.json("GET", self.path)["status"]

    def start(self) -> None:
        self.lab.api.json("POST", f"{self.path}/start", {})

    def stop(self) -> None:
        self.lab.api.json("POST", f"{self.path}/stop", {})

    def wait_until(self, status: str, timeout: float = 60.0) -> None:
        wait_until(lambda: self.status == status, timeout, what=f"{self.name} is {status}")

    def console(self) -> Console:
        """Raises PatchbayError, for a node that is not started too."""
        return Console(self.lab.api, self.lab.project_id, self.node_id)


class Link:
    """A link, as it was when it was read."""

    def __init__(self, lab: Lab, link: Mapping[str, Any]) -> None:
        self.lab = lab
        self.link_id: str = link["link_id"]
        self.node_ids: list[str] = [end["node_id"] for end in link["nodes"]]

    @property
    def path(self) -> str:
        return f"{self.lab.path}/links/{self.link_id}"

    @property
    def filters(self) -> dict[str, list[Any]]:
        """Now."""
        return self.lab.api.json("GET", self.path)["filters"]

    def impair(self, **filters: Any) -> None:
        """Replaces the impairments while frames pass: `impair(delay=[20, 5], packet_loss=1)`. None: they are removed."""
        values = {name: list(value) if isinstance(value, (list, tuple)) else [value] for name, value in filters.items()}
        self.lab.api.json("PUT", self.path, {"filters": values})

    @contextmanager
    def impaired(self, **filters: Any) -> Iterator[None]:
        """For the time of a block; what the link had is restored."""
        before = self.filters
        self.impair(**filters)
        try:
            yield
        finally:
            self.lab.api.json("PUT", self.path, {"filters": before})

    def suspend(self, suspend: bool = True) -> None:
        """It carries no frames, or does again."""
        self.lab.api.json("PUT", self.path, {"suspend": suspend})

    def stats(self) -> dict[str, Any]:
        return self.lab.api.json("GET", f"{self.path}/stats")


def named_files(lab: Path, text: str, patterns: Iterable[str] = ()) -> dict[str, str]:
    """The files below the folder of a lab that it, or a file that it names, names; and those of the patterns. By relative path."""
    folder = lab.parent.resolve()
    wanted = {path.resolve() for pattern in patterns for path in folder.glob(pattern)}
    found: dict[str, str] = {}
    texts = [text]
    candidates = {path: path.relative_to(folder).as_posix() for path in _files_below(folder)}
    while True:
        new = {
            path: name
            for path, name in candidates.items()
            if name not in found and (path in wanted or any(path.name in other for other in texts))
        }
        for path, name in new.items():
            content = _read_text(path)
            if content is None:
                del candidates[path]
            else:
                found[name] = content
        texts = [found[name] for name in new.values() if name in found]
        if not texts:
            return found


def _files_below(folder: Path) -> list[Path]:
    """Regular files that are really below it, without hidden ones; the nearest come first, so that a large folder hides none of them."""
    found: list[Path] = []
    folders = deque([folder])
    while folders and len(found) < _MOST_FILES:
        for path in _listed(folders.popleft()):
            if path.name.startswith("."):
                continue
            if path.is_dir() and not path.is_symlink():
                folders.append(path)
            elif path.is_file() and path.resolve().is_relative_to(folder):
                found.append(path)
    return found


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _read_text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8") if path.stat().st_size <= _LONGEST_FILE else None
    except (OSError, UnicodeDecodeError):
        return None
