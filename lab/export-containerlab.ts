/**
 * Exports a project as a topology of containerlab, which has counterparts of containers and switches only. Whatever of a node or link has
 * none is in the report. Source: containerlab's documents.
 */
import { stringify } from 'yaml';
import { changed, ForeignMap, missing, needless, taken } from '../src/schema/foreign-map.ts';
import type { Link } from '../src/schema/link.ts';
import type { Node } from '../src/schema/node.ts';
import { nodeFieldsDiffering } from './export.ts';
import { linkFacts, lostKeys, nodeKeys } from './export-keys.ts';
import { escapeDollars } from './import/containerlab-variables.ts';
import type { ImportedLab, NodeReport } from './import/foreign-lab.ts';
import { container, networkSwitch } from './import/kinds.ts';
import type { LabCatalog, LabProjectState } from './state/lab-state.ts';

/** Keys of a container's properties. */
export const containerKeys = {
  image: taken('`image`'),
  environment: taken('`env`'),
  start_command: taken('`cmd`'),
  adapters: needless('interfaces are made by links'),
  extra_volumes: missing('volumes, and the files in them: bind them'),
  mac_address: missing('base of its MAC addresses'),
  console_type: missing(''),
  console_resolution: missing(''),
  console_http_port: missing(''),
  console_http_path: missing(''),
  extra_hosts: missing(''),
  kernel_path: needless('how this server carries its frames'),
  usage: missing('usage notes'),
  aux: needless('port of a console of this server'),
  console: needless('port of a console of this server'),
  container_id: needless('of the engine here'),
};

/** Keys of a switch's properties. */
export const switchKeys = {
  ports_mapping: missing('VLANs of its ports'),
  console_type: needless('the console of a switch'),
};

/** Keys of a node beside its properties. */
export const nodeFieldKeys = {
  custom_adapters: changed('MAC addresses are `mac` of link ends'),
  symbol: needless('looks'),
  label: needless('looks'),
  locked: needless('looks'),
  template_id: needless('of this server'),
  console_type: missing('type of the console'),
  console_auto_start: needless('of clients'),
  port_name_format: needless('names of ports'),
  port_segment_size: needless('names of ports'),
  first_port_name: needless('names of ports'),
};

/** Keys of a link. */
export const linkKeys = {
  nodes: taken('`endpoints`'),
  filters: missing('impairments: use `containerlab tools netem`'),
  suspend: missing('suspension'),
  mirror: missing('mirror'),
  schedule: missing('schedule'),
  link_style: needless('looks'),
  ...linkFacts,
};

const most = 15;

/** Exports a project. */
export function exportContainerlab(state: LabProjectState, catalog: LabCatalog): ImportedLab {
  const { project, nodes, links, drawings, mirrors, schedules, others = [] } = state;
  const report: NodeReport[] = [];
  const names = new TopologyNames();
  const topology: Record<string, object> = {};
  const kept = new Map<string, string>();
  for (const node of nodes) {
    const line: NodeReport = { node: node.name, taken: [], changed: [], missing: [] };
    report.push(line);
    line.missing.push(...lostKeys(node, nodeKeys));
    const made = node.node_type === container ? containerOf(node, line, state, catalog) : switchOf(node, line, catalog);
    if (made === undefined) continue;
    const name = names.node(node.name, node.node_type === networkSwitch);
    if (name !== node.name) line.changed.push(`its name is ${name}`);
    topology[name] = made;
    kept.set(node.node_id, name);
  }
  const byId = new Map(nodes.map((node) => [node.node_id, node]));
  const written = links.flatMap((link) => {
    const line: NodeReport = { node: `link ${nameOf(link, byId)}`, taken: [], changed: [], missing: [] };
    const [mirror, schedule] = [mirrors.get(link.link_id), schedules.get(link.link_id)];
    const map = new ForeignMap(present({ ...link, mirror, schedule }), linkKeys);
    map.raw('nodes');
    const ends = link.nodes.map((end) => endpointOf(end, byId.get(end.node_id), kept, { names, project: project.name ?? 'lab' }));
    if (ends.includes(undefined)) line.missing.push('it ends at a node without a counterpart');
    line.missing.push(...map.unread());
    if (line.missing.length > 0) report.push(line);
    return ends.includes(undefined) ? [] : [{ endpoints: ends }];
  });
  const missing = [...(drawings.length > 0 ? [`${drawings.length} drawing(s)`] : []), ...others];
  if (missing.length > 0) report.push({ node: '(lab)', taken: [], changed: [], missing });
  const text = stringify({ name: project.name, topology: { nodes: topology, links: written } }, { lineWidth: 0 });
  return { text: escapeDollars(text), report };
}

function containerOf(node: Node, line: NodeReport, { files }: LabProjectState, catalog: LabCatalog): object {
  const map = new ForeignMap(differing(node, catalog), containerKeys);
  const [image, environment, command] = [map.text('image') ?? '', map.text('environment'), map.text('start_command')];
  line.taken.push(`linux ${image}`);
  const others = (environment ?? '').split('\n').filter((one) => one.trim() !== '' && one.indexOf('=') < 1);
  line.missing.push(...others.map((one) => `"${one}" of its environment, which is no NAME=VALUE`));
  const fields = new ForeignMap(nodeFieldsDiffering(node, catalog), nodeFieldKeys);
  const adapters = fields.list('custom_adapters').filter((one) => Object.keys(one as object).some((key) => !macKeys.has(key)));
  if (adapters.length > 0) line.missing.push('names and types of single adapters');
  line.missing.push(...map.unread(), ...fields.unread());
  const read = [...(files.get(node.node_id) ?? [])].filter(([, text]) => /^[^\S\n]*[^\s#]/m.test(text));
  line.missing.push(...read.map(([path]) => `the file ${path}`));
  return {
    kind: 'linux',
    image,
    // eth0 is a link of the lab, as it is here, unless it belongs to the management network.
    'network-mode': 'none',
    ...(environment !== undefined && { env: environmentOf(environment) }),
    ...(command !== undefined && { cmd: command }),
  };
}

const macKeys: ReadonlySet<string> = new Set(['adapter_number', 'mac_address']);

function switchOf(node: Node, line: NodeReport, catalog: LabCatalog): object | undefined {
  if (node.node_type !== networkSwitch) {
    line.missing.push(`nodes of type ${node.node_type}`);
    return undefined;
  }
  const map = new ForeignMap(differing(node, catalog), switchKeys);
  const ports = map.list('ports_mapping') as readonly { readonly type?: string; readonly vlan?: number }[];
  if (ports.some(({ type = 'access', vlan = 1 }) => type !== 'access' || vlan !== 1))
    line.missing.push(switchKeys.ports_mapping.how);
  line.missing.push(...map.unread());
  line.changed.push('a bridge of the host, which must exist under this name');
  return { kind: 'bridge' };
}

/** Returns the properties that differ from a new node's. */
function differing({ node_type, properties }: Node, { schemas }: LabCatalog): Record<string, unknown> {
  const schema = schemas.get(node_type) ?? {};
  const entries = Object.entries(properties).filter(([key, value]) => {
    const { default: standard } = (schema[key] ?? {}) as { default?: unknown };
    return value !== null && JSON.stringify(value) !== JSON.stringify(standard ?? '');
  });
  return Object.fromEntries(entries);
}

/** Returns the fields that say something. */
function present(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const isSaid = (value: unknown) =>
    value !== undefined && value !== false && (typeof value !== 'object' || Object.keys(value ?? {}).length > 0);
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => isSaid(value)));
}

function endpointOf(
  { node_id, adapter_number, port_number }: Link['nodes'][number],
  node: Node | undefined,
  kept: ReadonlyMap<string, string>,
  { names, project }: { readonly names: TopologyNames; readonly project: string },
): unknown {
  const name = kept.get(node_id);
  if (name === undefined || !node) return undefined;
  const isSwitch = node.node_type === networkSwitch;
  const port = isSwitch ? names.hostInterface([project, name, `p${port_number}`]) : `eth${adapter_number}`;
  const mac = node.custom_adapters?.find((one) => one.adapter_number === adapter_number)?.mac_address;
  return mac && !isSwitch ? { node: name, interface: port, mac } : `${name}:${port}`;
}

function nameOf({ nodes }: Link, byId: ReadonlyMap<string, Node>): string {
  return nodes.map(({ node_id }) => byId.get(node_id)?.name ?? node_id).join(' – ');
}

function environmentOf(text: string): Record<string, string> {
  const pairs = text.split('\n').flatMap((line) => {
    const equals = line.indexOf('=');
    return equals < 1 ? [] : [[line.slice(0, equals), line.slice(equals + 1)] as const];
  });
  return Object.fromEntries(pairs);
}

/** Chooses names that are unique: of nodes in the topology, of bridges and their interfaces on the host, where 15 characters are the limit. */
class TopologyNames {
  readonly #nodes = new Set<string>();
  readonly #host = new Set<string>();

  node(name: string, isBridge: boolean): string {
    const plain = name.replaceAll(/[^\w-]/g, '-');
    return unique(isBridge ? shorten([plain]) : plain, this.#nodes, isBridge ? most : 60);
  }

  /** Returns the name of a bridge's interface from those of the lab, the bridge and the port. */
  hostInterface(words: readonly string[]): string {
    return unique(shorten(words.map((word) => word.replaceAll(/[^A-Za-z0-9]/g, ''))), this.#host, most);
  }
}

/** Joins words to a name of at most 15 characters; the last word stays whole. */
function shorten(words: readonly string[]): string {
  const last = words.at(-1) ?? '';
  if (words.length === 1) return last.slice(0, most);
  const each = Math.floor((most - last.length - words.length + 1) / (words.length - 1));
  return [...words.slice(0, -1).map((word) => word.slice(0, Math.max(each, 1))), last].join('-').slice(0, most);
}

function unique(name: string, used: Set<string>, longest: number): string {
  let free = name;
  for (let next = 2; used.has(free); next += 1) free = `${name.slice(0, longest - String(next).length - 1)}-${next}`;
  used.add(free);
  return free;
}
