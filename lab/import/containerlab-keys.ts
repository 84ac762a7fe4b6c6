/** Keys of containerlab's topologies and what an import makes of them. Source: containerlab's documents (manual/topo-def-file, nodes, links). */
import { changed, missing, needless, taken } from '../../src/schema/foreign-map.ts';

export const fileKeys = {
  name: taken('name of the lab'),
  topology: taken('nodes and links'),
  prefix: needless('names of containers on the host'),
  mgmt: missing('the management network: nodes have links of the lab only'),
  settings: missing(''),
  debug: needless('log of containerlab'),
};

export const topologyKeys = {
  nodes: taken('nodes'),
  links: taken('links'),
  kinds: taken('merged into the nodes of the kind'),
  groups: taken('merged into the nodes of the group'),
  defaults: taken('merged into all nodes'),
};

/** Keys of a node, its kind, its group and the defaults. */
export const nodeKeys = {
  kind: changed(
    '`kind: docker`, a machine for those that vrnetlab wraps, a switch for bridges; `host` and `k8s-kind` become no node, and `ext-container` needs an image',
  ),
  image: taken('`image` of a container'),
  env: changed('`environment` of a container, as it is written; `QEMU_MEMORY` and `QEMU_SMP` are `memory` and `cpus` of a machine'),
  cmd: taken('`start_command` of a container'),
  binds: changed('files beside the topology are `files` in `extra_volumes`; folders, and paths of the host, are missing'),
  'startup-config': changed('a file of the node: where the container reads it, or on the config disk of a machine'),
  memory: changed('`memory` of a machine, MiB; the limit of a container is missing'),
  cpu: changed('`cpus` of a machine, a whole number of processors; the limit of a container is missing'),
  entrypoint: missing(''),
  exec: missing('commands after the start'),
  group: needless('group in graphs'),
  labels: missing('labels of containers'),
  type: missing('type of the hardware'),
  position: needless('place in graphs of containerlab'),
  ports: missing('published ports of the host'),
  user: missing(''),
  license: missing(''),
  'startup-delay': missing(''),
  'enforce-startup-config': needless('the start-up configuration is always read'),
  'suppress-startup-config': missing(''),
  'auto-remove': needless('containers of the lab are removed with it'),
  'mgmt-ipv4': missing('address in the management network'),
  'mgmt-ipv6': missing('address in the management network'),
  mgmt_ipv4: missing('address in the management network'),
  mgmt_ipv6: missing('address in the management network'),
  'network-mode': changed('`none` is how containers are here; others are missing'),
  'cpu-set': missing(''),
  sysctls: missing(''),
  ulimits: missing(''),
  'cap-add': missing(''),
  devices: missing(''),
  'shm-size': missing(''),
  tmpfs: missing(''),
  'env-files': missing(''),
  'image-pull-policy': needless('images are pulled when the engine does not have them'),
  'restart-policy': missing(''),
  dns: missing(''),
  aliases: missing(''),
  certificate: missing(''),
  healthcheck: missing(''),
  stages: missing('order of starts'),
  extras: missing(''),
  config: missing('variables of `containerlab config`'),
  runtime: needless('the engine of this server runs containers'),
};

export const linkKeys = {
  endpoints: taken('ends'),
  endpoint: taken('end; the other one is named by `type`'),
  type: changed('cloud nodes for `host` and `macvlan`, a NAT node for `mgmt-net`; `vxlan`, `vxlan-stitch` and `dummy` are missing'),
  'host-interface': taken('interface of the cloud node'),
  mtu: missing('links carry frames of any length'),
  labels: missing(''),
  vars: missing(''),
  mode: missing('mode of macvlan'),
  remote: missing('other end of a tunnel'),
  vni: missing(''),
  'dst-port': missing(''),
  'src-port': missing(''),
  'udp-port': missing(''),
};

export const endKeys = {
  node: taken('node'),
  interface: taken('port'),
  mac: taken('`mac_address` of the adapter, for containers and machines'),
  ipv4: missing('address of the interface'),
  ipv6: missing('address of the interface'),
  vars: missing(''),
};
