/**
 * Converts topology files of containerlab (`.clab.yml`) to lab files. Source: containerlab's documents.
 */

import { ForeignMap, taken as takenKey } from '../../src/schema/foreign-map.ts';
import { LabError } from '../file/lab-error.ts';
import { isTreeMap, readForeignYaml, type Tree, type TreeMap } from '../file/read-yaml.ts';
import { endKeys, fileKeys, linkKeys, nodeKeys, topologyKeys } from './containerlab-keys.ts';
import { expandFile } from './containerlab-variables.ts';
import {
  environmentOf,
  type ImportedLab,
  LabBuilder,
  listOf,
  mapOf,
  type NodeReport,
  nodeName,
  pathBeside,
  textIn,
} from './foreign-lab.ts';
import {
  bridgeKinds,
  clusterKind,
  commandOf,
  configDiskFile,
  container,
  containerKinds,
  foreignContainerKind,
  hostInterfaces,
  hostKind,
  isWrappedMachine,
  machine,
  machineAdapter,
  networkSwitch,
  uplink,
} from './kinds.ts';

/** Imports a topology. @throws LabError */
export function importContainerlab(text: string, file: string): ImportedLab {
  const variables = new Map<string, string>();
  const top = new ForeignMap(readForeignYaml(expandFile(text, variables), file).value, fileKeys);
  const topology = top.map('topology', topologyKeys);
  const nodes = topology.raw('nodes');
  if (!isTreeMap(nodes)) throw new LabError(`${file} is not a topology of containerlab: it has no topology.nodes`);
  const lab = new LabBuilder(top.word('name') ?? 'clab');
  const layers = {
    kinds: mapOf(topology.raw('kinds')),
    groups: mapOf(topology.raw('groups')),
    defaults: mapOf(topology.raw('defaults')),
  };
  const names = new Map<string, string>();
  const left = new Map<string, string>();
  const links = topology.list('links').map((link) => readLink(link));
  const ends = Map.groupBy(
    links.flatMap((link) => link.ends.flatMap((end) => end ?? [])),
    ({ node }) => node,
  );
  for (const [given, own] of Object.entries(nodes)) {
    const fields = new ForeignMap(effectiveFields(layers, mapOf(own)), nodeKeys);
    const kind = fields.word('kind');
    if (kind === hostKind || kind === clusterKind) {
      left.set(given, kind);
      const what =
        kind === hostKind ? 'the host itself is no node; its interfaces are cloud nodes' : 'a Kubernetes cluster is no node';
      lab.lacks([`${given.slice(0, 100)}: ${what}`, ...fields.unread()].join('; '));
      continue;
    }
    const name = nodeName(given);
    names.set(given, name);
    addNode(lab, { given, name, ends: ends.get(given) ?? [], fields });
  }
  const placed: PlacedEnds = { names, left, used: new Set() };
  for (const [index, link] of links.entries()) addLink(lab, link, { index, placed });
  for (const [name, what] of variables) lab.lacks(`variable ${name}: ${what}`);
  for (const key of top.unread()) lab.lacks(key);
  return lab.build();
}

interface NodeLayers {
  readonly kinds: TreeMap;
  readonly groups: TreeMap;
  readonly defaults: TreeMap;
}

/** Lists of which containerlab appends the node's own to those of its kind, its group and the defaults. */
const appended = ['binds', 'exec', 'ports', 'env-files', 'cap-add', 'devices'] as const;
const mergedMaps = ['env', 'labels', 'sysctls'] as const;

/** Merges the fields of the node, its group, its kind and the defaults, in this order. */
function effectiveFields({ kinds, groups, defaults }: NodeLayers, node: TreeMap): TreeMap {
  const group = mapOf(groups[textIn(node, 'group') ?? '']);
  const kind = textIn(node, 'kind') ?? textIn(group, 'kind') ?? textIn(defaults, 'kind') ?? '';
  const layers = [defaults, mapOf(kinds[kind]), group, node];
  const merged: TreeMap = { ...Object.assign({}, ...layers), kind };
  for (const key of mergedMaps)
    if (layers.some((one) => isTreeMap(one[key]))) merged[key] = Object.assign({}, ...layers.map((one) => mapOf(one[key])));
  for (const key of appended)
    if (layers.some((one) => Array.isArray(one[key]))) merged[key] = layers.flatMap((one) => listOf(one[key]));
  return merged;
}

interface ForeignNode {
  /** Name in the topology. */
  readonly given: string;
  readonly name: string;
  readonly fields: ForeignMap<keyof typeof nodeKeys>;
  /** Ends of links on the node. */
  readonly ends: readonly ForeignEnd[];
}

function addNode(lab: LabBuilder, node: ForeignNode): void {
  const { fields, name } = node;
  const kind = fields.text('kind') ?? '';
  const image = fields.word('image') ?? '';
  if (bridgeKinds.has(kind)) {
    const report = lab.add(
      name,
      { kind: networkSwitch, ...(node.ends.length > 8 && { ports: node.ends.length }) },
      { taken: [kind], given: node.given },
    );
    report.changed.push('the bridge of the host is a switch of the lab');
    report.missing.push(...fields.unread());
    return;
  }
  const report = isWrappedMachine(kind, image) ? addMachine(lab, node, { kind, image }) : addContainer(lab, node, { kind, image });
  report.missing.push(...fields.unread());
}

const machineEnvironment = { QEMU_MEMORY: takenKey('`memory`'), QEMU_SMP: takenKey('`cpus`') };

function addMachine(
  lab: LabBuilder,
  { fields, name, given, ends }: ForeignNode,
  { kind, image }: { readonly kind: string; readonly image: string },
): NodeReport {
  const environment = fields.map('env', machineEnvironment);
  const memory =
    environment.number('QEMU_MEMORY') ?? mebibytes(environment.text('QEMU_MEMORY')) ?? mebibytes(fields.text('memory'));
  const cpus = environment.number('QEMU_SMP') ?? fields.number('cpu');
  const startup = startupOf(fields, given);
  const config = configDiskFile(kind) ?? 'startup-config.cfg';
  const addresses = addressesOf(ends, (port) => machineAdapter(kind, port));
  const report = lab.add(
    name,
    {
      kind: machine,
      image: `${kind}.qcow2`,
      memory: Math.round(memory ?? 4096),
      ...(cpus && { cpus: Math.min(Math.max(Math.ceil(cpus), 1), 255) }),
      ...(addresses.length > 0 && { custom_adapters: addresses }),
      ...(startup !== undefined && { files: { [`config/${config}`]: startup } }),
    },
    { taken: [kind], given },
  );
  report.changed.push('a virtual machine of its own, not one inside a container');
  if (memory === undefined) report.changed.push('memory is 4096 MiB');
  if (startup !== undefined) report.changed.push(`startup-config is config/${config} on its config disk`);
  const inside = image === '' ? '' : ` of ${image.slice(0, 200)}`;
  report.missing.push(`its disk${inside}: put it into the image folder and name it as image (now ${kind}.qcow2)`);
  return report;
}

/**
 * Returns the content of a start-up configuration: text of several lines stands for itself, another one names a file beside the topology. A
 * file elsewhere counts as unread.
 */
function startupOf(fields: ForeignNode['fields'], node: string): Tree | undefined {
  const named = String(fields.peek('startup-config') ?? '').replaceAll('__clabNodeName__', () => node);
  const path = pathBeside(named);
  if (named === '' || (!named.includes('\n') && path === undefined)) return undefined;
  fields.raw('startup-config');
  return named.includes('\n') ? named : { file: path };
}

/** Returns mebibytes of `4Gb`, `512mb`, `2GiB` and the like. */
function mebibytes(text: string | undefined): number | undefined {
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)\s*([kmg]?)i?b?$/i.exec(text ?? '') ?? [];
  if (amount === undefined) return undefined;
  const bytes = Number(amount) * { '': 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 }[unit.toLowerCase() as '' | 'k' | 'm' | 'g'];
  return Math.max(1, Math.round(bytes / 2 ** 20));
}

/** Returns the MAC addresses that links give to interfaces. */
function addressesOf(ends: readonly ForeignEnd[], numberOf: (port: string) => number | undefined): TreeMap[] {
  return ends.flatMap(({ port, mac }) => {
    const number = numberOf(port);
    return mac === undefined || number === undefined ? [] : [{ adapter_number: number, mac_address: mac }];
  });
}

/** Returns the text that containerlab reads where it wants one: the word as it is written, and no text for null. */
function goText(value: null | boolean | number): string {
  return value === null ? '' : String(value);
}

function addContainer(
  lab: LabBuilder,
  { fields, name, given, ends }: ForeignNode,
  { kind, image }: { readonly kind: string; readonly image: string },
): NodeReport {
  const needs = Object.hasOwn(containerKinds, kind) ? containerKinds[kind] : undefined;
  const environment = environmentOf({ ...needs?.environment, ...mapOf(fields.raw('env')) }, goText);
  const command = commandOf(fields.word('cmd'), needs, environment.lines);
  const files = bindsOf(fields.list('binds'), given);
  if (fields.peek('network-mode') === 'none') fields.raw('network-mode');
  const partial = fields.peek('startup-config');
  const startup = needs?.startupFile === undefined ? undefined : startupOf(fields, given);
  if (startup !== undefined && needs?.startupFile !== undefined) files.files[needs.startupFile] = startup;
  const properties = {
    ...(environment.lines.length > 0 && { environment: environment.lines.join('\n') }),
    ...(command !== undefined && { start_command: command }),
    ...(files.volumes.length > 0 && { extra_volumes: files.volumes }),
  };
  const units = needs?.unitsOf;
  const addresses = addressesOf(ends, (port) => numberOf(port, units));
  const node = {
    kind: container,
    // The address keeps an engine from fetching an image of this name from a registry.
    image: image || `localhost/${(kind || 'linux').toLowerCase().replaceAll(/[^a-z\d]+/g, '-')}`,
    ...(units !== undefined && { adapters: 1 + Math.max(0, ...ends.map(({ port }) => numberOf(port, units) ?? 0)) }),
    ...(addresses.length > 0 && { custom_adapters: addresses }),
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(Object.keys(files.files).length > 0 && { files: files.files }),
  };
  const report = lab.add(name, node, { taken: [`${kind} ${image}`.trim()], given });
  if (image === '') report.missing.push(`its image: name it as image (now ${node.image})`);
  if (kind === foreignContainerKind) report.missing.push('the container of another program: one of the lab is in its place');
  else if (needs === undefined) report.changed.push(`kind "${kind}" is taken as a plain container`);
  report.missing.push(...environment.missing, ...files.missing);
  if (startup !== undefined && String(partial).includes('.partial'))
    report.changed.push(`${String(partial)} is its whole configuration: containerlab adds one of its own`);
  return report;
}

/** Converts binds. Files beside the topology become files of a volume; a folder, or a path of the host, cannot be imported. */
function bindsOf(binds: readonly Tree[], node: string) {
  const files: Record<string, Tree> = {};
  const volumes = new Set<string>();
  const missing: string[] = [];
  for (const bind of binds) {
    const [from = '', to = ''] = String(bind)
      .replaceAll('__clabNodeName__', () => node)
      .split(':');
    const path = /\.\w+$|\/[\w-]+$/.test(from) && /^\/.+\/[^/]+$/.test(to) ? pathBeside(from) : undefined;
    if (path === undefined) {
      missing.push(`bind ${String(bind).slice(0, 200)}`);
      continue;
    }
    volumes.add(to.slice(0, to.lastIndexOf('/')));
    files[to.slice(1)] = { file: path };
  }
  return { files, volumes: [...volumes], missing };
}

interface ForeignLink {
  readonly map: ForeignMap<keyof typeof linkKeys>;
  readonly ends: (ForeignEnd | undefined)[];
}

function readLink(link: Tree): ForeignLink {
  const map = new ForeignMap(link, linkKeys);
  const given = map.has('endpoints') ? map.list('endpoints') : map.has('endpoint') ? [map.raw('endpoint')] : [];
  return { map, ends: given.map(endOf) };
}

interface PlacedEnds {
  /** Name in the topology to the name here. */
  readonly names: ReadonlyMap<string, string>;
  /** Kinds of nodes of the topology that are none here. */
  readonly left: ReadonlyMap<string, string>;
  /** Ends that have a link. */
  readonly used: Set<string>;
}

function addLink(
  lab: LabBuilder,
  { map, ends }: ForeignLink,
  { index, placed }: { readonly index: number; readonly placed: PlacedEnds },
): void {
  const { names } = placed;
  const type = map.text('type') ?? ends.find((end) => end && endlessTypes.has(end.node))?.node ?? 'unknown';
  // Links with one end name the other one by their type.
  if (ends.length === 1 && outsideTypes.has(type))
    ends.push({ node: type, port: map.text('host-interface') ?? '', unread: () => [] });
  const [one, other] = ends;
  if (!one || !other || ends.length !== 2 || endlessTypes.has(type)) {
    const reports = ends.flatMap((end) => lab.report(names.get(end?.node ?? '') ?? '') ?? []);
    for (const report of reports) report.missing.push(`link of type ${type}`);
    if (reports.length === 0) lab.lacks(`link ${index + 1}: ${map.unread().join(', ') || 'it has no two ends'}`);
    return;
  }
  const places = [one, other].map((end) => place(lab, end, placed));
  if (places[0] === undefined || places[1] === undefined) return;
  lab.link(places[0], places[1]);
  lab.report(names.get(one.node) ?? '')?.missing.push(...map.unread().map((key) => `link ${key}`));
  for (const end of [one, other])
    lab.report(names.get(end.node) ?? '')?.missing.push(...end.unread().map((key) => `end ${end.port} ${key}`));
}

/** Types of links to interfaces of the host, and to the management network. */
const outsideTypes = new Set(['host', 'macvlan', 'mgmt-net']);
/** Types of links whose other end does not exist, or is on another host. */
const endlessTypes = new Set(['dummy', 'vxlan', 'vxlan-stitch']);

interface ForeignEnd {
  readonly node: string;
  readonly port: string;
  readonly mac?: string | undefined;
  /** Keys of the end that were not read. */
  readonly unread: () => string[];
}

/** Reads `node:interface`, or a map with both. */
function endOf(end: Tree): ForeignEnd | undefined {
  if (isTreeMap(end)) {
    const map = new ForeignMap(end, endKeys);
    const mac = map.text('mac');
    const isAddress = mac !== undefined && /^[0-9a-f]{2}(?::[0-9a-f]{2}){5}$/i.test(mac);
    const unread = () => [...(mac !== undefined && !isAddress ? [`mac ${mac.slice(0, 40)}`] : []), ...map.unread()];
    return { node: map.text('node') ?? '', port: map.text('interface') ?? '', ...(isAddress && { mac }), unread };
  }
  const [, node = '', port = ''] = /^([^:]*):(.*)$/.exec(String(end)) ?? [];
  return node === '' ? undefined : { node, port, unread: () => [] };
}

/** Formats the end for a lab file; Patchbay's interfaces of containers are eth0, eth1, …, and of an IOL e0/0, e0/1, …. */
function place(lab: LabBuilder, { node: given, port }: ForeignEnd, { names, left, used }: PlacedEnds): string | undefined {
  const node = left.get(given) === hostKind ? hostKind : given;
  if (outsideTypes.has(node) && !names.has(node)) {
    const name = `${node}-${nodeName(port || 'host')}`;
    if (node === 'mgmt-net' && !lab.has(name)) {
      lab.add(name, { kind: uplink }, { taken: [`${node}:${port}`] }).changed.push('a NAT node in place of the management network');
    } else if (!lab.has(name)) {
      const mapping = [{ name: 'eth0', port_number: 0, type: 'ethernet', interface: port }];
      lab
        .add(name, { kind: hostInterfaces, properties: { ports_mapping: mapping } }, { taken: [`${node}:${port}`] })
        .changed.push('a cloud node on this interface of the host');
    }
    return name;
  }
  const name = names.get(node);
  if (left.has(node)) {
    lab.lacks(`the link to ${node}:${port}`);
    return undefined;
  }
  if (name === undefined) throw new LabError(`a link names the node "${node.slice(0, 100)}", which does not exist`);
  const { taken = [], changed = [] } = lab.report(name) ?? {};
  const isSwitch = taken.some((kind) => bridgeKinds.has(kind));
  const units = Object.entries(containerKinds).find(([kind]) => taken.some((word) => word.split(' ')[0] === kind))?.[1].unitsOf;
  const isMachine = changed.some((text) => text.startsWith('a virtual machine'));
  const number = isMachine ? machineAdapter(taken[0] ?? '', port) : numberOf(port, units);
  if (!isSwitch && number === undefined && port !== '') changed.push(`${port} is its first free port`);
  if (isSwitch || number === undefined) return name;
  const own = isMachine ? `${number}/0` : units === undefined ? `eth${number}` : `e${Math.floor(number / units)}/${number % units}`;
  const end = `${name}:${own}`;
  // `eth1/1` and `eth2/1` end in the same number.
  if (used.has(end)) {
    changed.push(`${port} is its first free port`);
    return name;
  }
  used.add(end);
  if (isMachine && port !== `eth${number}`) changed.push(`${port} is adapter ${number}`);
  if (!isMachine && own !== port && units === undefined) changed.push(`${port} is ${own}`);
  return end;
}

/**
 * Returns the number at the end of an interface's name. For `Ethernet1/2` it is the container's interface number, with `units`
 * interfaces per slot.
 */
function numberOf(port: string, units: number | undefined): number | undefined {
  const [, slot, unit] = /^e\D*(\d{1,2})\/(\d{1,2})$/i.exec(port) ?? [];
  if (units !== undefined && slot !== undefined && unit !== undefined) return Number(slot) * units + Number(unit);
  const [, digits] = /(\d{1,3})$/.exec(port) ?? [];
  return digits === undefined ? undefined : Number(digits);
}
