/**
 * Imports the output of netlab (`netlab create -o yaml`): nodes with devices, links with interfaces. A source, as people write it, is
 * refused: only netlab knows what its defaults, groups and plugins make of it. Source: netlab's documents.
 */

import { ForeignMap } from '../../src/schema/foreign-map.ts';
import type { NodeType } from '../../src/schema/node.ts';
import { LabError } from '../file/lab-error.ts';
import { isTreeMap, readForeignYaml, type Tree, type TreeMap } from '../file/read-yaml.ts';
import {
  environmentOf,
  type ImportedLab,
  LabBuilder,
  listOf,
  mapOf,
  type NodeReport,
  nodeName,
  numberIn,
  pathBeside,
  textIn,
} from './foreign-lab.ts';
import { commandOf, container, containerKinds, isWrappedMachine, machine, networkSwitch } from './kinds.ts';
import {
  bindKeys,
  clabKeys,
  endKeys,
  fileKeys,
  interfaceKeys,
  linkKeys,
  loopbackKeys,
  nodeKeys,
  routingKeys,
  staticRouteKeys,
  tcKeys,
} from './netlab-keys.ts';

/** Devices that netlab runs as containers with the provider clab; `none` and `linux` are plain hosts. */
const containerDevices: ReadonlySet<string> = new Set(['frr', 'linux', 'bird', 'eos', 'srlinux', 'cumulus', 'dnsmasq', 'none']);

/** Imports a topology. @throws LabError */
export function importNetlab(text: string, file: string): ImportedLab {
  const { value } = readForeignYaml(text, file);
  const top = new ForeignMap(value, fileKeys);
  const nodes = top.raw('nodes');
  if (nodes === undefined || nodes === null) throw new LabError(`${file} is not a topology of netlab: it has no nodes`);
  if (!isTreeMap(nodes) || isSource(mapOf(value), nodes))
    throw new LabError(
      `${file} is a source of netlab, whose defaults, groups and plugins only netlab knows. Run \`netlab create -o yaml ${file} > lab.yml\` and import lab.yml`,
    );
  const lab = new LabBuilder(top.text('name') ?? 'netlab');
  const standard = { device: textIn(mapOf(top.raw('defaults')), 'device') ?? '', provider: top.text('provider') ?? '' };
  const added: AddedNodes = { names: new Map(), machines: new Set(), nodes };
  for (const [given, fields] of Object.entries(nodes)) {
    const name = nodeName(given);
    added.names.set(given, name);
    if (addNode(lab, { given, name, node: new ForeignMap(fields, nodeKeys) }, standard) === machine) added.machines.add(name);
  }
  for (const [index, link] of top.maps('links', linkKeys).entries()) addLink(lab, link, { added, index });
  for (const key of top.unread()) lab.lacks(key);
  return lab.build();
}

/** Whether a person wrote the file: netlab's output names the interfaces of each link, and the interfaces or the image of each node. */
function isSource(top: TreeMap, nodes: TreeMap): boolean {
  const links = listOf(top.links);
  if (Object.keys(top).some((key) => key.includes('.')) || (top.links !== undefined && !Array.isArray(top.links))) return true;
  if (links.some((link) => !isTreeMap(link) || !Array.isArray(link.interfaces))) return true;
  return Object.values(nodes).some((node) => !isTreeMap(node) || (node.box === undefined && !Array.isArray(node.interfaces)));
}

type NetlabNodeMap = ForeignMap<keyof typeof nodeKeys>;

interface NetlabNode {
  /** Name in the file. */
  readonly given: string;
  readonly name: string;
  readonly node: NetlabNodeMap;
}

/** Adds a node and returns its kind. */
function addNode(lab: LabBuilder, named: NetlabNode, standard: { readonly device: string; readonly provider: string }): NodeType {
  const { node } = named;
  const device = node.text('device') ?? standard.device;
  const image = node.text('box') ?? node.text('image') ?? '';
  const provider = node.text('provider') ?? standard.provider;
  const isWrapped = isWrappedMachine(textIn(mapOf(node.peek('clab')), 'kind') ?? '', image);
  const isContainer =
    !isWrapped && (node.has('clab') || ((provider === '' || provider === 'clab') && containerDevices.has(device)));
  const report = isContainer ? addContainer(lab, named, { image, device }) : addMachine(lab, named, { image, device, isWrapped });
  report.taken.push(`${device} ${image}`.trim());
  if (image === '') report.missing.push('its image');
  const modules = node.list('module').map(String);
  const hasScripts = report.changed.some((text) => text.startsWith('its configuration'));
  if (modules.length > 0 && !hasScripts)
    report.missing.push(`configuration of ${modules.join(', ')}: netlab's own (netlab initial)`);
  report.missing.push(...node.unread());
  return isContainer ? container : machine;
}

function addMachine(
  lab: LabBuilder,
  { given, name, node }: NetlabNode,
  { image, device, isWrapped }: { readonly image: string; readonly device: string; readonly isWrapped: boolean },
): NodeReport {
  const disk = `${(isWrapped ? '' : image) || device || name}.qcow2`.replaceAll('/', '-');
  const [memory, cpus] = [node.number('memory'), node.number('cpu')];
  const report = lab.add(
    name,
    {
      kind: machine,
      image: disk,
      memory: Math.max(1, Math.round(memory || 2048)),
      ...(cpus && { cpus: Math.max(1, Math.ceil(cpus)) }),
    },
    { given },
  );
  if (!memory) report.changed.push('memory is 2048 MiB');
  if (isWrapped) {
    report.changed.push('a virtual machine of its own, not one inside a container');
    report.missing.push(`its disk of ${image.slice(0, 200)}: put it into the image folder and name it as image (now ${disk})`);
  } else report.changed.push('a Vagrant box or disk image must be in the image folder');
  return report;
}

function addContainer(
  lab: LabBuilder,
  { given, name, node }: NetlabNode,
  { image, device }: { readonly image: string; readonly device: string },
): NodeReport {
  const clab = node.map('clab', clabKeys);
  const files: Record<string, Tree> = {};
  const volumes = new Set<string>();
  const missing: string[] = [];
  const binds = clab.maps('binds', bindKeys);
  for (const [index, given] of clab.list('binds').entries()) {
    // Binds are texts in older output.
    const [from = '', to = ''] =
      typeof given === 'string' ? given.split(':') : [binds[index]?.text('source'), binds[index]?.text('target')];
    const path = pathBeside(from);
    if (path !== undefined && /^\/.+\/[^/]+$/.test(to)) {
      // The hosts file of a container is the engine's.
      if (to === '/etc/hosts') continue;
      volumes.add(to.slice(0, to.lastIndexOf('/')));
      files[to.slice(1)] = { file: path };
    } else missing.push(`bind ${from}:${to}`.slice(0, 200));
  }
  const scripts = Object.keys(files).filter((path) => path.startsWith('etc/config/'));
  const network = networkConfiguration(node);
  if (network !== undefined) files['etc/network/interfaces'] = network;
  const clabKind = clab.text('kind') ?? '';
  const needs = Object.hasOwn(containerKinds, clabKind) ? containerKinds[clabKind] : undefined;
  const environment = environmentOf({ ...needs?.environment, ...mapOf(clab.raw('env')) }, pythonText);
  const command = commandOf(clab.text('cmd'), needs, environment.lines);
  const properties = {
    ...(environment.lines.length > 0 && { environment: environment.lines.join('\n') }),
    ...(command !== undefined && { start_command: command }),
    ...(volumes.size > 0 && { extra_volumes: [...volumes] }),
  };
  const fields = {
    kind: container,
    image: image || device,
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(Object.keys(files).length > 0 && { files }),
  };
  const report = lab.add(name, fields, { given });
  if (network !== undefined) report.taken.push('addresses');
  if (scripts.length > 0)
    report.changed.push(
      `its configuration: run ${scripts.map((path) => `/${path}`).join(', ')} in it, as netlab does after the start`,
    );
  report.missing.push(...environment.missing, ...missing);
  return report;
}

/** Returns the word that netlab writes into the topology of containerlab: Python's. */
function pythonText(value: null | boolean | number): string {
  return value === null ? 'None' : typeof value === 'number' ? String(value) : value ? 'True' : 'False';
}

/** Returns the file of a container by which its interfaces have the addresses and routes of the topology; undefined without any. */
function networkConfiguration(node: NetlabNodeMap): string | undefined {
  const lines: string[] = [];
  const loopback = node.map('loopback', loopbackKeys);
  const own = addressesIn(loopback);
  if (own.length > 0) lines.push('auto lo', 'iface lo inet loopback', ...own.map((one) => `  up ip address add ${one} dev lo`));
  for (const port of node.maps('interfaces', interfaceKeys)) {
    const name = port.text('ifname');
    if (name === undefined || !/^eth\d{1,2}$/.test(name)) continue;
    const addresses = addressesIn(port);
    if (addresses.length === 0) continue;
    lines.push(`auto ${name}`, `iface ${name} inet manual`, `  up ip link set ${name} up`);
    for (const address of addresses) lines.push(`  up ip address add ${address} dev ${name}`);
  }
  const routes = node.map('routing', routingKeys).maps('static', staticRouteKeys);
  for (const route of routes) {
    const [to, via] = [route.text('ipv4') ?? route.text('ipv6'), mapOf(route.peek('nexthop'))];
    const gateway = textIn(via, 'ipv4') ?? textIn(via, 'ipv6');
    if (to === undefined || gateway === undefined || lines.length === 0) continue;
    route.raw('nexthop');
    lines.push(`  up ip route add ${to} via ${gateway}`);
  }
  return lines.length === 0 ? undefined : `${lines.join('\n')}\n`;
}

/** Returns the addresses of an interface. Another value, such as `true` for an interface without one of its own, counts as unread. */
function addressesIn(port: ForeignMap<'ipv4' | 'ipv6'>): string[] {
  return (['ipv4', 'ipv6'] as const).flatMap((key) =>
    /^[\da-f.:]+\/\d{1,3}$/i.test(String(port.peek(key))) ? (port.text(key) ?? []) : [],
  );
}

interface AddedNodes {
  /** Names in the file to those in the lab. */
  readonly names: Map<string, string>;
  /** Names of nodes in the lab that are machines. */
  readonly machines: Set<string>;
  /** Nodes of the file. */
  readonly nodes: TreeMap;
}

type NetlabLinkMap = ForeignMap<keyof typeof linkKeys>;

/** Adds a link for two interfaces; more share a switch. */
function addLink(
  lab: LabBuilder,
  link: NetlabLinkMap,
  { added, index }: { readonly added: AddedNodes; readonly index: number },
): void {
  const ends = link.maps('interfaces', endKeys).map((end) => {
    const [node = '', port = ''] = [end.text('node'), end.text('ifname')];
    const name = added.names.get(node);
    if (name === undefined) throw new LabError(`a link names the node "${node.slice(0, 100)}", which does not exist`);
    // netlab writes the facts of an interface twice: at its node, where they are taken or reported, and here.
    const own = listOf(mapOf(added.nodes[node]).interfaces).find((one) => textIn(mapOf(one), 'ifname') === port);
    end.takeSame(own);
    const number = end.number('ifindex') ?? numberIn(mapOf(own), 'ifindex') ?? Number(/^eth(\d{1,2})$/.exec(port)?.[1] ?? -1);
    const isMachine = added.machines.has(name);
    if (!isMachine && /^eth\d{1,2}$/.test(port)) return `${name}:${port}`;
    const place = Number.isInteger(number) && number >= 0 && number < 99 ? (isMachine ? `${number}/0` : `eth${number}`) : undefined;
    if (port !== '' && (place === undefined || place !== `${port.slice(3)}/0`))
      lab.report(name)?.changed.push(`${port} is ${place ?? 'its first free port'}`);
    return place === undefined ? name : `${name}:${place}`;
  });
  const filters = filtersOf(link.map('tc', tcKeys));
  const fields = Object.keys(filters).length > 0 ? { filters } : {};
  const [one, other] = ends;
  if (ends.length === 2 && one !== undefined && other !== undefined) {
    lab.link(one, other, fields);
    return;
  }
  if (ends.length < 2) {
    if (one !== undefined)
      lab.report(one.split(':')[0] ?? '')?.missing.push(`${link.peek('_linkname') ?? 'a link'}: nothing else is on it`);
    return;
  }
  const name = `LAN-${index + 1}`;
  lab.add(name, { kind: networkSwitch, ...(ends.length > 8 && { ports: ends.length }) }, { taken: ['link of several nodes'] });
  for (const end of ends) lab.link(end, name, fields);
}

/** Converts impairments; netlab has milliseconds, percent and kbit/s. */
function filtersOf(tc: ForeignMap<keyof typeof tcKeys>): TreeMap {
  const [delay, jitter, loss, rate] = [tc.number('delay'), tc.number('jitter'), tc.number('loss'), tc.number('rate')];
  const [duplicate, corrupt] = [tc.number('duplicate'), tc.number('corrupt')];
  return {
    ...((delay || jitter) && { delay: [delay ?? 0, ...(jitter ? [jitter] : [])] }),
    ...(loss && { packet_loss: loss }),
    ...(rate && { bandwidth: rate }),
    ...(duplicate && { duplicate }),
    ...(corrupt && { corrupt }),
  };
}
