"""Waits until something holds."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class WaitTimeout(AssertionError):
    """It did not hold in time."""


def wait_until(attempt: Callable[[], T], timeout: float = 60.0, interval: float = 0.2, what: str = "the condition") -> T:
    """The first true value of `attempt`. An attempt that raises an exception counts as false. Times are seconds.

    Raises WaitTimeout, with the last exception of an attempt as its cause.
    """
    end = time.monotonic() + timeout
    while True:
        problem: Exception | None = None
        try:
            value = attempt()
            if value:
                return value
        except Exception as error:  # noqa: BLE001: any failure of an attempt is tried again
            problem = error
        left = end - time.monotonic()
        if left <= 0:
            reason = f": {problem}" if problem else ""
            raise WaitTimeout(f"{what} did not hold within {timeout:g} s{reason}") from problem
        time.sleep(min(interval, left))
