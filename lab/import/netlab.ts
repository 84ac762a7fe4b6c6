/**
 * Imports the output of netlab (`netlab create -o yaml`): nodes with devices, links with interfaces. Source: netlab's documents.
 */
import { LabError } from '../file/lab-error.ts';
import { isTreeMap, readYaml, type Tree, type TreeMap } from '../file/read-yaml.ts';
import { type ImportedLab, LabBuilder, listOf, mapOf, nodeName, textIn } from './foreign-lab.ts';
import { container, machine, networkSwitch } from './kinds.ts';

/** Devices that netlab runs as containers with the provider clab; `none` and `linux` are plain hosts. */
const containerDevices: ReadonlySet<string> = new Set(['frr', 'linux', 'bird', 'eos', 'srlinux', 'cumulus', 'dnsmasq', 'none']);

/** Imports a topology. @throws LabError */
export function importNetlab(text: string, file: string): ImportedLab {
  const top = mapOf(readYaml(text, file).value);
  const nodes = isTreeMap(top.nodes)
    ? Object.entries(top.nodes)
    : listOf(top.nodes).map((one): [string, Tree] => [nameIn(one), one]);
  if (nodes.length === 0) throw new LabError(`${file} is not a topology of netlab: it has no nodes`);
  const lab = new LabBuilder(textIn(top, 'name') ?? 'netlab');
  const names = new Map<string, string>();
  for (const [given, fields] of nodes) {
    const name = nodeName(given);
    names.set(given, name);
    addNode(lab, name, mapOf(fields), textIn(mapOf(top.defaults), 'device') ?? '');
  }
  listOf(top.links).forEach((link, index) => {
    addLink(lab, link, { names, index });
  });
  return lab.build();
}

function nameIn(node: Tree): string {
  return isTreeMap(node) ? (textIn(node, 'name') ?? '') : String(node);
}

function addNode(lab: LabBuilder, name: string, fields: TreeMap, standard: string): void {
  const device = textIn(fields, 'device') ?? standard;
  const image = textIn(fields, 'box') ?? textIn(fields, 'image') ?? '';
  const isContainer = containerDevices.has(device) || textIn(fields, 'provider') === 'clab' || isTreeMap(fields.clab);
  const report = lab.add(
    name,
    isContainer
      ? { kind: container, image: image || device }
      : { kind: machine, image: `${image || device || name}.qcow2`.replaceAll('/', '-'), memory: 2048 },
    [`${device} ${image}`.trim()],
  );
  if (image === '') report.missing.push('its image');
  if (!isContainer) report.changed.push('memory is 2048 MiB: a Vagrant box or disk image must be in the image folder');
  const modules = listOf(fields.module).map(String);
  if (modules.length > 0) report.missing.push(`configuration of ${modules.join(', ')}: netlab's own (netlab initial)`);
}

/** Adds a link for two interfaces; more share a switch. */
function addLink(
  lab: LabBuilder,
  link: Tree,
  { names, index }: { readonly names: ReadonlyMap<string, string>; readonly index: number },
): void {
  const ends = interfacesOf(link).map(({ node, port }) => {
    const name = names.get(node);
    if (name === undefined) throw new LabError(`a link names the node "${node.slice(0, 100)}", which does not exist`);
    return /^eth\d+$/.test(port) ? `${name}:${port}` : name;
  });
  const [one, other] = ends;
  if (ends.length === 2 && one !== undefined && other !== undefined) {
    lab.link(one, other);
    return;
  }
  if (ends.length < 2) return;
  const name = `LAN-${index + 1}`;
  lab.add(name, { kind: networkSwitch, ...(ends.length > 8 && { ports: ends.length }) }, ['link of several nodes']);
  for (const end of ends) lab.link(end, name);
}

/** Reads a link: `interfaces: [{node, ifname}]` of netlab's output, or the short forms `r1-r2` and `{r1: …, r2: …}`. */
function interfacesOf(link: Tree): { node: string; port: string }[] {
  if (typeof link === 'string') return link.split('-').map((node) => ({ node, port: '' }));
  const map = mapOf(link);
  const listed = listOf(map.interfaces).map(mapOf);
  if (listed.length > 0) return listed.map((one) => ({ node: textIn(one, 'node') ?? '', port: textIn(one, 'ifname') ?? '' }));
  const others = new Set([
    'prefix',
    'name',
    'type',
    'bandwidth',
    'linkindex',
    'bridge',
    'role',
    'pool',
    'interfaces',
    'vlan',
    'mtu',
    'gateway',
    'node_count',
  ]);
  return Object.keys(map).flatMap((node) => (others.has(node) || node.startsWith('_') ? [] : [{ node, port: '' }]));
}
