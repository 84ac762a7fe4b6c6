"""Client of Patchbay's HTTP API and pytest plugin: lab files as fixtures, consoles, impairments, verdicts."""

from .api import Api, PatchbayError
from .console import Console
from .lab import Lab, Link, Node
from .verdict import Verdict
from .wait import WaitTimeout, wait_until

__all__ = ["Api", "Console", "Lab", "Link", "Node", "PatchbayError", "Verdict", "WaitTimeout", "wait_until"]
