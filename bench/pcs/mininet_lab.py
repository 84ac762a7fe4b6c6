"""Makes a lab of Mininet's hosts and Linux bridges, pings from each host to the next of its bridge, and prints the seconds as JSON.

Usage: /usr/bin/python3 mininet_lab.py BRIDGES HOSTS_OF_A_BRIDGE
"""
import json
import sys
import time

from mininet.link import Link
from mininet.net import Mininet
from mininet.node import Node
from mininet.nodelib import LinuxBridge

bridges, hosts = int(sys.argv[1]), int(sys.argv[2])
began = time.monotonic()
net = Mininet(switch=LinuxBridge, host=Node, link=Link, controller=None, autoSetMacs=True, ipBase='10.0.0.0/8')
groups = []
for number in range(bridges):
    bridge = net.addSwitch('s%d' % (number + 1))
    group = [net.addHost('h%d' % (number * hosts + index + 1)) for index in range(hosts)]
    for host in group:
        net.addLink(host, bridge)
    groups.append(group)
made = time.monotonic()
lost = 0
try:
    net.start()
    started = time.monotonic()
    for group in groups:
        for index, host in enumerate(group):
            host.sendCmd('ping -c 1 -W 5 %s' % group[(index + 1) % hosts].IP())
    for group in groups:
        for host in group:
            lost += ' 1 received' not in host.waitOutput()
    pinged = time.monotonic()
finally:
    net.stop()
print(json.dumps({'made': made - began, 'started': started - made, 'pinged': pinged - started, 'lost': lost}))
