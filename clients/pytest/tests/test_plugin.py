"""The plugin as its users use it, against a real server. Run by `plugin.test.ts`, which starts the server."""

from pathlib import Path

import pytest

from pytest_patchbay import Api, PatchbayError, WaitTimeout, wait_until
from pytest_patchbay.lab import named_files
from pytest_patchbay.own_server import own_server

HERE = Path(__file__).parent


ANSWERED = "icmp_seq=1 ttl"


def ping(console, address):
    """What the console says of it. VPCS may lose a line that is typed: then this raises an exception."""
    console.send_line(f"ping {address} -c 1")
    answer = console.expect(r"(icmp_seq=1 ttl|timeout|not reachable)[^\n]*\n", timeout=15)
    console.expect("VPCS> ")
    return answer[1]


def test_console_and_impairments(lab):
    lab.node("PC1").wait_until("started")
    link = lab.link("PC2", "PC1")
    with lab.node("PC1").console() as console:
        wait_until(lambda: console.send_line() or console.expect(r"VPCS> $", timeout=2), what="a prompt")
        wait_until(lambda: ping(console, "10.0.0.2") == ANSWERED, what="an answer to a ping")
        link.impair(delay=[20, 5])
        with link.impaired(packet_loss=100):
            assert link.filters == {"packet_loss": [100]}
            assert wait_until(lambda: ping(console, "10.0.0.2"), what="the end of a ping") != ANSWERED
        assert link.filters == {"delay": [20, 5]}
        with pytest.raises(WaitTimeout, match="never.*did not come within 0.05 s"):
            console.expect("never", timeout=0.05)
    with pytest.raises(PatchbayError) as refused:
        link.impair(no_such_filter=1)
    assert refused.value.status == 400
    lab.node("PC1").stop()
    with pytest.raises(PatchbayError, match="is the node started"):
        lab.node("PC1").console()
    with pytest.raises(KeyError, match="no node 'PC3'"):
        lab.node("PC3")


@pytest.mark.lab("lab.yaml", vars={"second": "10.0.0.9"}, start=False)
def test_lab_of_a_mark(lab, patchbay_server):
    assert {node.status for node in lab.nodes()} == {"stopped"}
    names = [project["name"] for project in patchbay_server.json("GET", "/v2/projects")]
    assert names == [lab.name]


def test_verdict(verdict, patchbay_server):
    found = verdict()
    # A busy machine makes it void.
    assert found["verdict"] in ("passed", "void"), str(found)
    assert bool(found) == (found["verdict"] == "passed")
    assert [(step["name"], step["outcome"]) for step in found["steps"]][-1] == ("PC1 reaches PC2", "passed")
    with pytest.raises(RuntimeError, match="none.yaml cannot be read"):
        verdict("none.yaml")
    assert patchbay_server.json("GET", "/v2/projects") == []


def test_wrong_login(patchbay_server):
    with pytest.raises(PatchbayError) as refused:
        Api(patchbay_server.url, "ada", "wrong").json("GET", "/v2/projects")
    assert refused.value.status == 401
    with pytest.raises(PatchbayError) as absent:
        Api("http://127.0.0.1:1").json("GET", "/v2/version")
    assert absent.value.status == 0


def test_missing_command():
    with pytest.raises(RuntimeError, match="no-patchbay cannot be started: .*Name a server by PATCHBAY_URL"):
        with own_server("no-patchbay"):
            pass


def test_wait_until():
    values = iter([0, None, 7])
    assert wait_until(lambda: next(values), interval=0) == 7
    with pytest.raises(WaitTimeout, match="it did not hold within 0.01 s: division") as late:
        wait_until(lambda: 1 / 0, timeout=0.01, interval=0.001, what="it")
    assert isinstance(late.value.__cause__, ZeroDivisionError)


def test_only_named_files_are_sent(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "core.yaml").write_text("nodes: {R1: {config: {file: r1.conf}}}")
    (tmp_path / "parts" / "r1.conf").write_text("r1")
    (tmp_path / "secret.txt").write_text("no")
    (tmp_path / "R2.cfg").write_text("r2")
    (tmp_path / "link.conf").symlink_to("/etc/hostname")
    text = "include: [parts/core.yaml]\nnodes: {R2: {config: {file: '${node}.cfg'}}, R3: {config: {file: link.conf}}}"
    assert set(named_files(tmp_path / "lab.yaml", text)) == {"parts/core.yaml", "parts/r1.conf"}
    assert "R2.cfg" in named_files(tmp_path / "lab.yaml", text, ["*.cfg"])


def test_near_files_come_first(tmp_path, monkeypatch):
    monkeypatch.setattr("pytest_patchbay.lab._MOST_FILES", 2)
    for name in ("a/one", "a/two", "a/b/far.conf", ".hidden/r1.conf", "pc1.vpc"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("ip")
    assert set(named_files(tmp_path / "lab.yaml", "pc1.vpc, far.conf, r1.conf")) == {"pc1.vpc"}
