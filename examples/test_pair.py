"""The lab of pair.yaml as a fixture: made, started and removed for each test."""

import pytest


@pytest.mark.lab("pair.yaml")
def test_cut(lab):
    link = lab.link("PC1", "PC2")
    with lab.node("PC1").console() as console, link.impaired(packet_loss=100):
        console.send_line("ping 10.0.0.2 -c 1")
        console.expect("timeout|not reachable", timeout=30)
    with lab.node("PC1").console() as console:
        console.send_line("ping 10.0.0.2 -c 1")
        console.expect("icmp_seq=1 ttl", timeout=30)


def test_checks(verdict):
    assert verdict("pair.yaml")
