"""Verdicts of `patchbay test`."""

import json
import os
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .api import Api

# passed, failed, void.
_VERDICT_CODES = (0, 1, 3)


class Verdict(dict[str, Any]):
    """The report of `patchbay test --json`. True if all checks hold and the emulation was faithful."""

    def __bool__(self) -> bool:
        return self["verdict"] == "passed"

    def __str__(self) -> str:
        failed = [step["name"] for step in self.get("steps", []) if step["outcome"] != "passed"]
        return f"{self['verdict']}{': ' + ', '.join(failed) if failed else ''}"


def run_test(
    command: str, api: Api, file: Path, variables: Mapping[str, Any] | None = None, seed: int | None = None
) -> Verdict:
    """Runs the checks of a lab file. `command`: the program, as in a shell. Raises RuntimeError for a mistake in the file."""
    line = [*shlex.split(command), "test", str(file), "--json"]
    for name, value in (variables or {}).items():
        line += ["--var", f"{name}={json.dumps(value)}"]
    if seed is not None:
        line += ["--seed", str(seed)]
    env = {**os.environ, "PATCHBAY_URL": api.url}
    if api.user is not None:
        env |= {"PATCHBAY_USER": api.user, "PATCHBAY_PASSWORD": api.password or ""}
    done = subprocess.run(line, env=env, capture_output=True, text=True, check=False)
    if done.returncode not in _VERDICT_CODES or not done.stdout:
        raise RuntimeError(done.stderr.strip() or f"{command} test ended with {done.returncode}")
    return Verdict(json.loads(done.stdout))
