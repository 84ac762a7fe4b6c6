"""The fixtures of pytest: `patchbay_server`, `lab`, `verdict`."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from .api import Api
from .lab import Lab
from .own_server import own_server
from .verdict import Verdict, run_test

_DEFAULT_FILE = "lab.yaml"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("patchbay")
    group.addoption("--patchbay-url", help="address of the server (default $PATCHBAY_URL, else a server for these tests)")
    group.addoption(
        "--patchbay-command",
        default=os.environ.get("PATCHBAY_COMMAND", "patchbay"),
        help="the program patchbay (default $PATCHBAY_COMMAND, else patchbay)",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "lab(file='lab.yaml', vars={}, files=[], start=True): the lab file of the fixture `lab`, relative to the file of the test",
    )


@pytest.fixture(scope="session")
def patchbay_server(request: pytest.FixtureRequest) -> Iterator[Api]:
    """The API of the server that is named, or of one for these tests."""
    url = request.config.getoption("--patchbay-url") or os.environ.get("PATCHBAY_URL")
    if url:
        api = Api.from_environment(url)
        api.json("GET", "/v2/version")
        yield api
        return
    with own_server(request.config.getoption("--patchbay-command")) as api:
        yield api


@pytest.fixture
def lab(request: pytest.FixtureRequest, patchbay_server: Api) -> Iterator[Lab]:
    """The lab of the mark `lab`, or `lab.yaml` beside the test: in a project of its own, started, and removed afterwards."""
    mark = request.node.get_closest_marker("lab")
    file, options = (mark.args[0] if mark and mark.args else _DEFAULT_FILE), (dict(mark.kwargs) if mark else {})
    made = Lab.apply(
        patchbay_server,
        request.path.parent / options.get("file", file),
        options.get("vars"),
        options.get("files", ()),
        options.get("start", True),
    )
    yield made
    made.destroy()


@pytest.fixture
def verdict(request: pytest.FixtureRequest, patchbay_server: Api) -> Callable[..., Verdict]:
    """`verdict(file, vars={}, seed=None)` runs the checks of a lab file: `assert verdict("ring.yaml")`."""
    command = request.config.getoption("--patchbay-command")
    folder: Path = request.path.parent

    def run(file: str = _DEFAULT_FILE, vars: dict[str, Any] | None = None, seed: int | None = None) -> Verdict:
        return run_test(command, patchbay_server, folder / file, vars, seed)

    return run
