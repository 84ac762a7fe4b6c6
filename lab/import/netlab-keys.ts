/** Keys of netlab's output and what an import makes of them. Source: netlab's documents and its output. */
import { changed, missing, needless, taken } from '../../src/schema/foreign-map.ts';

const configured = 'in the configurations that netlab makes of it';

export const fileKeys = {
  name: taken('name of the lab'),
  nodes: taken('nodes'),
  links: taken('links'),
  provider: changed('containers for `clab`, machines for others'),
  defaults: taken('device of nodes that name none'),
  input: needless('files of netlab'),
  module: needless(configured),
  groups: needless('merged into the nodes'),
  plugin: needless('has changed the nodes already'),
  addressing: needless('addresses of the interfaces come from it'),
  version: needless('of netlab'),
  message: missing(''),
  validate: missing('tests'),
  ospf: needless(configured),
  bgp: needless(configured),
  isis: needless(configured),
  vlans: needless(configured),
  vrfs: needless(configured),
  routing: needless(configured),
  tools: missing('tools beside the lab'),
};

export const nodeKeys = {
  device: taken('whether it is a container'),
  box: taken('`image`'),
  image: taken('`image`'),
  provider: changed('a container for `clab`, a machine for others and for those that vrnetlab wraps'),
  clab: taken('container'),
  interfaces: taken('addresses, in `etc/network/interfaces` of a container'),
  loopback: taken('addresses, in `etc/network/interfaces` of a container'),
  routing: taken('static routes, in `etc/network/interfaces` of a container; others are missing'),
  module: changed('a container has its configurations as files; a machine has none'),
  name: needless(''),
  id: needless(''),
  role: needless(''),
  hostname: needless('name of the container in netlab'),
  af: needless(configured),
  mtu: missing('MTU of its interfaces'),
  mgmt: missing('interface of the management network'),
  ospf: needless(configured),
  bgp: needless(configured),
  isis: needless(configured),
  eigrp: needless(configured),
  mpls: needless(configured),
  vlans: needless(configured),
  vrfs: needless(configured),
  vlan: needless(configured),
  gateway: needless(configured),
  config: missing('templates of its own'),
  netlab_ansible_skip_module: needless('of netlab'),
  _node_config: needless('of netlab'),
  _daemon: needless('of netlab'),
  _daemon_config: needless('of netlab'),
  _daemon_parent: needless('of netlab'),
  cpu: taken('`cpus` of a machine'),
  memory: taken('`memory` of a machine, MiB'),
  libvirt: missing('settings of the machine'),
};

export const clabKeys = {
  binds: changed('files beside the topology are `files` in `extra_volumes`, but for `/etc/hosts`; folders are missing'),
  config_templates: needless('the files of `binds`'),
  kind: taken('environment and command that its containers need'),
  env: taken('`environment`, with `True`, `False` and `None` of Python'),
  cmd: taken('`start_command`'),
  exec: missing('commands after the start'),
};

export const bindKeys = { source: taken('file'), target: taken('path in the container'), mode: needless('') };

export const interfaceKeys = {
  ifname: taken('interface'),
  ipv4: taken('address'),
  ipv6: taken('address'),
  ifindex: needless('counts the interfaces: read at the link'),
  clab: needless('name of the interface in its container, which `ifindex` counts'),
  linkindex: needless(''),
  name: needless('description'),
  neighbors: needless(''),
  type: needless(''),
  role: needless(''),
  bridge: needless('the link'),
  mtu: missing(''),
  bandwidth: missing('bandwidth for routing protocols; `tc` impairs a link'),
  gateway: needless('a static route'),
  ospf: needless(configured),
  bgp: needless(configured),
  isis: needless(configured),
  vlan: missing('VLAN of a container'),
  vrf: missing('VRF of a container'),
  tc: needless('of the link'),
  _linkname: needless(''),
};

export const loopbackKeys = { ...interfaceKeys, virtual_interface: needless('') };

export const routingKeys = { static: taken('routes') };

export const staticRouteKeys = { ipv4: taken('destination'), ipv6: taken('destination'), nexthop: taken('gateway') };

export const linkKeys = {
  interfaces: taken('ends'),
  tc: taken('filters'),
  type: needless('how many nodes are on it'),
  linkindex: needless(''),
  node_count: needless(''),
  prefix: needless('addresses of the interfaces come from it'),
  bridge: needless('name of its bridge in netlab'),
  role: needless(''),
  name: needless('description'),
  _linkname: needless(''),
  gateway: needless(configured),
  host_count: needless(''),
  bandwidth: missing('bandwidth for routing protocols; `tc` impairs a link'),
  mtu: missing(''),
  vlan: missing('VLANs of the link'),
  vlan_name: missing('VLANs of the link'),
  pool: needless('addresses of the interfaces come from it'),
  ospf: needless(configured),
  bgp: needless(configured),
  isis: needless(configured),
};

/** Facts that the interface of the node has as well are read there. */
export const endKeys = {
  ...interfaceKeys,
  node: taken('node'),
  ifindex: changed('number of the port where `ifname` is not `eth1`, `eth2`, …; machines have management as port 0'),
};

export const tcKeys = {
  delay: taken('`delay`, ms'),
  jitter: taken('jitter of `delay`, ms'),
  loss: taken('`packet_loss`, %'),
  rate: taken('`bandwidth`, kbit/s'),
  duplicate: taken('`duplicate`, %'),
  corrupt: taken('`corrupt`, %'),
  reorder: missing(''),
};
