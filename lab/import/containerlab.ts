/**
 * Converts topology files of containerlab (`.clab.yml`) to lab files, and projects to topologies. Source: containerlab's documents.
 */
import { stringify } from 'yaml';
import { LabError } from '../file/lab-error.ts';
import { isTreeMap, readYaml, type Tree, type TreeMap } from '../file/read-yaml.ts';
import type { LabProjectState } from '../state/lab-state.ts';
import { type ImportedLab, LabBuilder, listOf, mapOf, type NodeReport, nodeName, textIn } from './foreign-lab.ts';
import {
  bridgeKinds,
  container,
  containerKinds,
  hostInterfaces,
  isWrappedMachine,
  machine,
  networkSwitch,
  uplink,
} from './kinds.ts';

/** Ignored keys, because Patchbay has no counterpart or does not need one. */
const ignoredKeys = new Set([
  'labels',
  'group',
  'mgmt-ipv4',
  'mgmt-ipv6',
  'position',
  'mgmt_ipv4',
  'mgmt_ipv6',
  'kind',
  'image',
  'type',
]);
const understood = new Set(['env', 'cmd', 'binds', 'startup-config', 'entrypoint']);

/** Imports a topology. @throws LabError */
export function importContainerlab(text: string, file: string): ImportedLab {
  const { value } = readYaml(text, file);
  const topology = mapOf(mapOf(value).topology);
  if (!isTreeMap(topology.nodes)) throw new LabError(`${file} is not a topology of containerlab: it has no topology.nodes`);
  const lab = new LabBuilder(textIn(mapOf(value), 'name') ?? 'clab');
  const names = new Map<string, string>();
  const ports = portsIn(topology.links);
  for (const [given, fields] of Object.entries(topology.nodes)) {
    const name = nodeName(given);
    names.set(given, name);
    addNode(lab, { name, fields: effectiveFields(topology, mapOf(fields)), ports: ports.get(given) ?? [] });
  }
  for (const link of listOf(topology.links)) addLink(lab, mapOf(link), names);
  return lab.build();
}

/** Merges the fields of the node, its group, its kind and the defaults, in this order. */
function effectiveFields(topology: TreeMap, node: TreeMap): TreeMap {
  const defaults = mapOf(topology.defaults);
  const group = mapOf(mapOf(topology.groups)[textIn(node, 'group') ?? '']);
  const kind = textIn(node, 'kind') ?? textIn(group, 'kind') ?? textIn(defaults, 'kind') ?? '';
  const ofKind = mapOf(mapOf(topology.kinds)[kind]);
  const layers = [defaults, ofKind, group, node];
  return { ...Object.assign({}, ...layers), kind, env: Object.assign({}, ...layers.map((one) => mapOf(one.env))) };
}

interface ForeignNode {
  readonly name: string;
  readonly fields: TreeMap;
  /** Ports by the names that links use. */
  readonly ports: readonly string[];
}

function addNode(lab: LabBuilder, { name, fields, ports }: ForeignNode): void {
  const kind = textIn(fields, 'kind') ?? '';
  const image = textIn(fields, 'image') ?? '';
  if (bridgeKinds.has(kind)) {
    lab.add(name, { kind: networkSwitch }, [kind]).changed.push('the bridge of the host is a switch of the lab');
    return;
  }
  if (isWrappedMachine(kind, image)) {
    const report = lab.add(name, { kind: machine, image: `${kind}.qcow2`, memory: 4096 }, [kind]);
    report.changed.push('a virtual machine of its own, not one inside a container');
    report.missing.push(
      `its disk: put it into the image folder and name it as image (now ${kind}.qcow2), with the memory that it needs`,
    );
    reportRest(report, fields);
    return;
  }
  const needs = Object.hasOwn(containerKinds, kind) ? containerKinds[kind] : undefined;
  const environment = { ...needs?.environment, ...mapOf(fields.env) };
  const command = textIn(fields, 'cmd') ?? needs?.command;
  const files = bindsOf(listOf(fields.binds));
  const startup = textIn(fields, 'startup-config');
  if (startup !== undefined && needs?.startupFile !== undefined)
    files.files[needs.startupFile] = { file: startup.replace(/^\.\//, '') };
  const properties = {
    ...(Object.keys(environment).length > 0 && {
      environment: Object.entries(environment)
        .map(([key, value]) => `${key}=${String(value)}`)
        .join('\n'),
    }),
    ...(command !== undefined && { start_command: command }),
    ...(files.volumes.length > 0 && { extra_volumes: files.volumes }),
  };
  const units = needs?.unitsOf;
  const node = {
    kind: container,
    image,
    ...(units !== undefined && { adapters: 1 + Math.max(0, ...ports.map((port) => numberOf(port, units) ?? 0)) }),
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(Object.keys(files.files).length > 0 && { files: files.files }),
  };
  const report = lab.add(name, node, [`${kind} ${image}`.trim()]);
  if (image === '') report.missing.push('its image');
  if (needs === undefined) report.changed.push(`kind "${kind}" is taken as a plain container`);
  report.missing.push(...files.missing);
  if (startup !== undefined && needs?.startupFile === undefined)
    report.missing.push(`startup-config ${startup}: give it as \`files\` in a volume`);
  if (startup?.includes('.partial')) report.changed.push(`${startup} is its whole configuration: containerlab adds one of its own`);
  if (textIn(fields, 'entrypoint') !== undefined) report.missing.push('entrypoint');
  reportRest(report, fields);
}

function reportRest(report: NodeReport, fields: TreeMap): void {
  for (const key of Object.keys(fields)) if (!ignoredKeys.has(key) && !understood.has(key)) report.missing.push(key);
}

/** Converts binds. Files beside the topology become files of a volume; a folder, or a path of the host, cannot be imported. */
function bindsOf(binds: readonly Tree[]) {
  const files: Record<string, Tree> = {};
  const volumes = new Set<string>();
  const missing: string[] = [];
  for (const bind of binds) {
    const [from = '', to = ''] = String(bind).split(':');
    const isFile = /^(?!\/|~|\.\.)[^$]*[^/]$/.test(from) && /\.\w+$|\/[\w-]+$/.test(from) && /^\/.+\/[^/]+$/.test(to);
    if (!isFile) {
      missing.push(`bind ${String(bind).slice(0, 200)}`);
      continue;
    }
    volumes.add(to.slice(0, to.lastIndexOf('/')));
    files[to.slice(1)] = { file: from.replace(/^\.\//, '') };
  }
  return { files, volumes: [...volumes], missing };
}

/** Collects the ports that links use, by the names of nodes. */
function portsIn(links: Tree): ReadonlyMap<string, readonly string[]> {
  const ends = listOf(links).flatMap((link) => endsOf(mapOf(link)).flatMap((end) => end ?? []));
  const byNode = Map.groupBy(ends, ({ node }) => node);
  return new Map([...byNode].map(([node, own]) => [node, own.map(({ port }) => port)]));
}

function endsOf(link: TreeMap): (ForeignEnd | undefined)[] {
  const given = Array.isArray(link.endpoints) ? link.endpoints : link.endpoint === undefined ? [] : [link.endpoint];
  return given.map(endOf);
}

function addLink(lab: LabBuilder, link: TreeMap, names: ReadonlyMap<string, string>): void {
  const ends = endsOf(link);
  const type = textIn(link, 'type') ?? ends.find((end) => end && endlessTypes.has(end.node))?.node ?? 'unknown';
  // Links with one end name the other one by their type.
  if (ends.length === 1 && outsideTypes.has(type)) ends.push({ node: type, port: textIn(link, 'host-interface') ?? '' });
  const [one, other] = ends;
  if (!one || !other || ends.length !== 2 || endlessTypes.has(type)) {
    for (const end of ends) lab.report(names.get(end?.node ?? '') ?? '')?.missing.push(`link of type ${type}`);
    return;
  }
  const places = [one, other].map((end) => place(lab, end, names));
  if (places[0] === undefined || places[1] === undefined) return;
  lab.link(places[0], places[1]);
  const extras = Object.keys(link).filter(
    (key) => !['endpoints', 'endpoint', 'host-interface', 'type', 'labels', 'vars'].includes(key),
  );
  if (extras.length > 0) lab.report(names.get(one.node) ?? '')?.missing.push(`${extras.join(', ')} of a link`);
}

/** Types of links to interfaces of the host, and to the management network. */
const outsideTypes = new Set(['host', 'macvlan', 'mgmt-net']);
/** Types of links whose other end does not exist, or is on another host. */
const endlessTypes = new Set(['dummy', 'vxlan', 'vxlan-stitch']);

interface ForeignEnd {
  readonly node: string;
  readonly port: string;
}

/** Reads `node:interface`, or a map with both. */
function endOf(end: Tree): ForeignEnd | undefined {
  if (isTreeMap(end)) return { node: textIn(end, 'node') ?? '', port: textIn(end, 'interface') ?? '' };
  const [, node = '', port = ''] = /^([^:]*):(.*)$/.exec(String(end)) ?? [];
  return node === '' ? undefined : { node, port };
}

/** Formats the end for a lab file; Patchbay's interfaces of containers are eth0, eth1, …, and of an IOL e0/0, e0/1, …. */
function place(lab: LabBuilder, { node, port }: ForeignEnd, names: ReadonlyMap<string, string>): string | undefined {
  if (outsideTypes.has(node) && !names.has(node)) {
    const name = `${node}-${nodeName(port || 'host')}`;
    if (node === 'mgmt-net' && !lab.has(name)) {
      lab.add(name, { kind: uplink }, [`${node}:${port}`]).changed.push('a NAT node in place of the management network');
    } else if (!lab.has(name)) {
      const mapping = [{ name: 'eth0', port_number: 0, type: 'ethernet', interface: port }];
      lab
        .add(name, { kind: hostInterfaces, properties: { ports_mapping: mapping } }, [`${node}:${port}`])
        .changed.push('a cloud node on this interface of the host');
    }
    return name;
  }
  const name = names.get(node);
  if (name === undefined) throw new LabError(`a link names the node "${node.slice(0, 100)}", which does not exist`);
  const { taken = [], changed = [] } = lab.report(name) ?? {};
  const isSwitch = taken.some((kind) => bridgeKinds.has(kind));
  const units = Object.entries(containerKinds).find(([kind]) => taken.some((word) => word.split(' ')[0] === kind))?.[1].unitsOf;
  const number = numberOf(port, units);
  if (isSwitch || number === undefined) return name;
  const isMachine = changed.some((text) => text.startsWith('a virtual machine'));
  const own = isMachine ? `${number}/0` : units === undefined ? `eth${number}` : `e${Math.floor(number / units)}/${number % units}`;
  if (!isMachine && own !== port && units === undefined) changed.push(`${port} is ${own}`);
  return `${name}:${own}`;
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

/** Exports a project as a topology of containerlab, which has counterparts of containers and switches only. */
export function exportContainerlab({ project, nodes, links }: LabProjectState): ImportedLab {
  const report: NodeReport[] = [];
  const kept = new Map<string, string>();
  const topology: TreeMap = {};
  for (const node of nodes) {
    const name = node.name.replaceAll(/[^\w-]/g, '-');
    const { environment, start_command, image, extra_volumes } = node.properties;
    const line: NodeReport = { node: node.name, taken: [], changed: [], missing: [] };
    report.push(line);
    if (node.node_type === container) {
      topology[name] = {
        kind: 'linux',
        image,
        ...(typeof environment === 'string' && environment !== '' && { env: environmentOf(environment) }),
        ...(start_command ? { cmd: start_command } : {}),
      };
      line.taken.push(`linux ${String(image)}`);
      if (Array.isArray(extra_volumes) && extra_volumes.length > 0) line.missing.push('volumes');
    } else if (node.node_type === networkSwitch) {
      topology[name] = { kind: 'bridge' };
      line.changed.push('a bridge of the host, which must exist');
    } else {
      line.missing.push(`nodes of type ${node.node_type}`);
      continue;
    }
    kept.set(node.node_id, name);
  }
  const ends = links.flatMap((link) => {
    const [one, other] = link.nodes.map(({ node_id, adapter_number, port_number }) => {
      const name = kept.get(node_id);
      const node = nodes.find((each) => each.node_id === node_id);
      const port = node?.ports.find((each) => each.adapter_number === adapter_number && each.port_number === port_number);
      // In containerlab eth0 is the management interface.
      return (
        name && `${name}:${node?.node_type === container ? `eth${adapter_number + 1}` : (port?.short_name ?? `e${port_number}`)}`
      );
    });
    return one && other ? [{ endpoints: [one, other] }] : [];
  });
  for (const line of report) if (line.taken.length > 0) line.changed.push('eth0 is eth1, and so on: eth0 is for management');
  if (links.some(({ filters }) => Object.keys(filters).length > 0))
    report.push({ node: '(links)', taken: [], changed: [], missing: ['impairments: use containerlab tools netem'] });
  return { text: stringify({ name: project.name, topology: { nodes: topology, links: ends } }), report };
}

function environmentOf(text: string): Record<string, string> {
  const pairs = text.split('\n').flatMap((line) => {
    const equals = line.indexOf('=');
    return equals < 1 ? [] : [[line.slice(0, equals), line.slice(equals + 1)] as const];
  });
  return Object.fromEntries(pairs);
}
