/** Imports labs of EVE-NG (`.unl`, XML). Source: files that EVE-NG's users publish and its documents. */
import { SaxesParser } from 'saxes';
import { ForeignMap } from '../../src/schema/foreign-map.ts';
import type { NodeType } from '../../src/schema/node.ts';
import { LabError } from '../file/lab-error.ts';
import type { TreeMap } from '../file/read-yaml.ts';
import { interfaceKeys, labKeys, networkKeys, nodeKeys } from './eve-keys.ts';
import { type EveHardware, routerOf } from './eve-routers.ts';
import { type ImportedLab, LabBuilder, type NodeReport, nodeName, textIn } from './foreign-lab.ts';
import { configDiskFile, container, eveKinds, machine, networkSwitch, pc, router, unixRouter, uplink } from './kinds.ts';

/** Longest file, characters. */
const maxLength = 8_388_608;
/** Longest start-up configuration, characters. */
const longestConfig = 1_000_000;
const mostElements = 50_000;
const deepest = 32;

interface XmlElement {
  readonly name: string;
  readonly attributes: TreeMap;
  readonly children: XmlElement[];
  text: string;
}

type EveNodeMap = ForeignMap<keyof typeof nodeKeys>;
type EvePortMap = ForeignMap<keyof typeof interfaceKeys>;

interface EvePort {
  readonly map: EvePortMap;
  /** The end of a link in a lab file. */
  readonly end: string;
}

/** Imports a lab. @throws LabError */
export function importEve(text: string, file: string): ImportedLab {
  const root = readXml(text, file);
  if (root.name !== 'lab') throw new LabError(`${file} is not a lab of EVE-NG: its outermost element is <${root.name}>, not <lab>`);
  const facts = new ForeignMap(root.attributes, labKeys);
  const lab = new LabBuilder(facts.text('name') ?? 'eve');
  const topology = child(root, 'topology');
  const objects = child(root, 'objects');
  const configs = new Map(all(child(objects, 'configs'), 'config').map((one) => [textIn(one.attributes, 'id'), one.text]));
  const networks = new Map(all(child(topology, 'networks'), 'network').map((one) => [textIn(one.attributes, 'id') ?? '', one]));
  const ends = new Map<string, string[]>();
  const serial = new Map<string, EvePort>();
  for (const element of all(child(topology, 'nodes'), 'node')) {
    const map: EveNodeMap = new ForeignMap(element.attributes, nodeKeys);
    const ports = all(element, 'interface').map((one) => new ForeignMap(one.attributes, interfaceKeys));
    const { name, report, hasPort } = addNode(lab, map, { ports, configs });
    for (const port of ports) {
      const place = portOf(map, port, { report, hasPort });
      if (place === undefined) continue;
      const end = `${name}${place}`;
      const network = port.text('network_id');
      if (network !== undefined && network !== '0') ends.set(network, [...(ends.get(network) ?? []), end]);
      if (port.has('remote_id')) joinSerial(lab, serial, { node: map, port: { map: port, end } });
      report.missing.push(...port.unread().map((key) => `interface ${String(port.peek('name') ?? port.peek('id') ?? '')} ${key}`));
    }
    report.missing.push(...map.unread(), ...othersOf(element, ['interface', 'slot']).map((one) => `<${one}>`));
  }
  for (const object of all(child(objects, 'textobjects'), 'textobject')) addText(lab, object);
  for (const { end } of serial.values()) lab.lacks(`the serial link of ${end}: nothing is at its other end`);
  for (const [id, { attributes }] of networks)
    if (!ends.has(id)) lab.lacks(`network ${textIn(attributes, 'name') || id}: nothing is on it`);
  for (const [id, list] of ends)
    joinNetwork(lab, new ForeignMap(networks.get(id)?.attributes ?? {}, networkKeys), { id, ends: list });
  for (const key of [
    ...facts.unread(),
    ...othersOf(root, ['topology', 'objects']),
    ...othersOf(objects, ['configs', 'textobjects']),
  ])
    lab.lacks(key);
  return lab.build();
}

/** Lists the names of other child elements that hold something. */
function othersOf(element: XmlElement | undefined, known: readonly string[]): string[] {
  const others = (element?.children ?? []).filter(
    ({ name, text, children }) => !known.includes(name) && (children.length > 0 || text.trim() !== ''),
  );
  return [...new Set(others.map(({ name }) => name))];
}

interface EveNodeParts {
  readonly ports: readonly EvePortMap[];
  readonly configs: ReadonlyMap<string | undefined, string>;
}

interface AddedEveNode extends Pick<EveHardware, 'hasPort'> {
  readonly name: string;
  readonly report: NodeReport;
}

function addNode(lab: LabBuilder, node: EveNodeMap, { ports, configs }: EveNodeParts): AddedEveNode {
  const id = node.text('id');
  const label = nodeName(node.text('name') || `node-${id ?? ''}`);
  const name = lab.has(label) ? `${label}-${id ?? ''}` : label;
  const type = node.text('type') ?? '';
  const [image = '', template = ''] = [node.text('image'), node.text('template')];
  const kind = eveKinds.get(type) ?? machine;
  const hardware = hardwareOf(kind, node, ports);
  const isMachine = kind === machine;
  const fields: TreeMap = {
    kind,
    ...(kind !== pc && { image: isMachine ? `${image || template || type}.qcow2` : image || template || type }),
    ...hardware.fields,
    ...placeOf(node),
  };
  const report = lab.add(name, fields, { taken: [`${type} ${image || template}`.trim()], given: node.text('name') ?? name });
  if (!eveKinds.has(type)) report.changed.push(`type "${type}" is taken as a virtual machine`);
  if (isMachine)
    report.missing.push(
      `its disk: EVE-NG has a folder ${image || template}; put its disk into the image folder and name it as image`,
    );
  report.changed.push(...(hardware.changed ?? []));
  report.missing.push(...(hardware.missing ?? []));
  const config = configs.get(id);
  if (config !== undefined && node.peek('config') === '0')
    report.missing.push('its saved configuration, which is not used at its start');
  else addConfig(report, fields, { config, template });
  node.raw('config');
  return { name, report, hasPort: hardware.hasPort };
}

/** Returns memory, processors, adapters and slots, of those that the kind has. */
function hardwareOf(kind: NodeType, node: EveNodeMap, ports: readonly EvePortMap[]): EveHardware {
  // Telnet is the console of all kinds without a screen.
  if (kind !== machine && node.peek('console') === 'telnet') node.raw('console');
  if (kind === pc) {
    for (const key of ['ethernet', 'cpu', 'ram'] as const) node.raw(key);
    return { fields: {} };
  }
  const adapters = node.number('ethernet');
  // Some templates have an interface for management before those that are counted.
  const lastPort = Math.max(1, ...ports.map((port) => Math.floor(Number(port.peek('id') ?? 0)) + 1 || 1));
  const among = (most: number) => ({ hasPort: (adapter: number) => adapter < most });
  if (kind === container) return { fields: adapters ? { adapters: Math.min(Math.max(adapters, lastPort), 99) } : {}, ...among(99) };
  if (kind === router) return routerOf(node);
  const memory = node.number('ram');
  if (kind === machine) {
    const [cpus, console] = [node.number('cpu'), String(node.peek('console') ?? '')];
    const properties = {
      ...fitting(node, 'firstmac', 'mac_address', /^[0-9a-f]{2}(?::[0-9a-f]{2}){5}$/i),
      ...fitting(node, 'qemu_nic', 'adapter_type', /^(?:e1000|i82559er|ne2k_pci|pcnet|rtl8139|virtio-net-pci|vmxnet3)$/),
      ...fitting(node, 'qemu_arch', 'platform', /^(?:aarch64|arm|i386|x86_64)$/),
    };
    const fields = {
      ...(memory && { memory }),
      ...(cpus && { cpus }),
      ...(adapters && { adapters: Math.min(Math.max(adapters, lastPort), 275) }),
      ...(/^(?:telnet|vnc)$/.test(console) && { console_type: node.text('console') }),
      ...(Object.keys(properties).length > 0 && { properties }),
    };
    return { fields, ...among(275) };
  }
  const nvram = node.number('nvram');
  const slots = (isSerial: boolean) =>
    new Set(ports.flatMap((port) => ((port.peek('type') === 'serial') === isSerial ? slotOf(port)[0] : [])));
  const ethernet = Math.min(Math.max(adapters ?? 1, ...[...slots(false)].map((slot) => slot + 1)), 16);
  const serial = Math.max(node.number('serial') ?? 0, ...[...slots(true)].map((slot) => slot + 1 - ethernet));
  const bays = { ethernet_adapters: ethernet, serial_adapters: Math.min(Math.max(serial, 0), 16 - ethernet) };
  return {
    fields: { ...(memory && { memory }), properties: { ...bays, ...(nvram && { nvram }) } },
    hasPort: (adapter, port) => adapter < 16 && port < 4,
  };
}

/** Pixels of one percent of the canvas: old labs have places in percent. */
const percentPixels = { left: 12, top: 8 };

/** Returns the place of a node or network; undefined where the file has none, so that it is laid out with others. */
function placeOf(element: ForeignMap<'left' | 'top'>): { readonly x: number; readonly y: number } | undefined {
  const read = (key: 'left' | 'top') => {
    const [, percent] = /^(-?\d{1,4}(?:\.\d{1,9})?)%$/.exec(String(element.peek(key))) ?? [];
    if (percent !== undefined) element.raw(key);
    return percent === undefined ? element.number(key) : Number(percent) * percentPixels[key];
  };
  const [x, y] = [read('left'), read('top')];
  return x === undefined && y === undefined ? undefined : { x: Math.round(x ?? 0), y: Math.round(y ?? 0) };
}

/** Returns a property of the attribute's value; none where the value does not fit, which counts as unread. */
function fitting(node: EveNodeMap, key: 'firstmac' | 'qemu_nic' | 'qemu_arch', property: string, pattern: RegExp): TreeMap {
  return pattern.test(String(node.peek(key) ?? '')) ? { [property]: node.text(key) } : {};
}

/**
 * Returns slot and unit of an interface of IOL and Dynamips. Its name says them (`e1/0`); without one its id is unit × 16 + slot.
 */
function slotOf(port: EvePortMap): readonly [number, number] {
  const [, slot, unit] = /(\d{1,2})\/(\d{1,2})$/.exec(String(port.peek('name') ?? '')) ?? [];
  const id = Number(port.peek('id') ?? 0);
  return slot === undefined ? [id % 16, Math.floor(id / 16)] : [Number(slot), Number(unit)];
}

function addConfig(
  report: NodeReport,
  fields: TreeMap,
  { config, template }: { readonly config: string | undefined; readonly template: string },
): void {
  const text = config === undefined ? '' : Buffer.from(config, 'base64').toString('utf8');
  if (text.trim() === '') return;
  if (fields.kind === container) {
    report.missing.push('its start-up configuration: paste it into the console');
    return;
  }
  if (fields.kind === machine) {
    const path = `config/${configDiskFile(template) ?? 'startup-config.cfg'}`;
    fields.files = { [path]: text.slice(0, longestConfig) };
    report.changed.push(`its start-up configuration is ${path} on its config disk`);
  } else {
    fields.config = text.slice(0, longestConfig);
    report.taken.push('start-up configuration');
  }
  if (text.length > longestConfig) report.missing.push(`its start-up configuration after ${longestConfig} characters`);
}

/** Adds a text object, whose data is base64 of HTML, or in old labs of HTML in a text. Only its text and position are imported. */
function addText(lab: LabBuilder, object: XmlElement): void {
  const html = Buffer.from(child(object, 'data')?.text ?? '', 'base64').toString('utf8');
  const text = html
    .replaceAll(/<br[^<>]{0,200}>|<\/(?:p|div)>/gi, '\n')
    .replaceAll(/<[^<>]{0,10000}>/g, '')
    .replaceAll(/&nbsp;/g, ' ')
    .replaceAll(/&lt;/g, '<')
    .replaceAll(/&gt;/g, '>')
    .replaceAll(/&amp;/g, '&')
    .trim();
  if (text === '' || textIn(object.attributes, 'type') !== 'text') {
    lab.lacks(`${textIn(object.attributes, 'type') ?? 'object'} ${textIn(object.attributes, 'name') ?? ''}`.trim());
    return;
  }
  const pixels = (side: string) => Math.round(Number(new RegExp(`\\b${side}: ?(-?\\d{1,6})`).exec(html)?.[1] ?? 0));
  lab.drawText(text, pixels('left'), pixels('top'));
}

/** Names a port by adapter and port; a PC has one only. Undefined, and reported: the node has no such port. */
function portOf(
  node: EveNodeMap,
  port: EvePortMap,
  { report, hasPort }: Pick<AddedEveNode, 'report' | 'hasPort'>,
): string | undefined {
  const kind = eveKinds.get(String(node.peek('type') ?? '')) ?? machine;
  const number = port.number('id');
  for (const key of ['name', 'type'] as const) port.raw(key);
  if (kind === pc) return '';
  const shown = `interface ${String(port.peek('name') ?? port.peek('id') ?? '').slice(0, 100)}`;
  const isRouter = kind === router || kind === unixRouter;
  if (!isRouter && (number === undefined || !Number.isInteger(number) || number < 0)) {
    report.changed.push(`${shown} is its first free port`);
    return '';
  }
  const [adapter, unit] = isRouter ? slotOf(port) : [number ?? 0, 0];
  if (hasPort?.(adapter, unit) !== false) return `:${adapter}/${unit}`;
  for (const key of ['network_id', 'remote_id', 'remote_if'] as const) port.raw(key);
  report.missing.push(`the link of ${shown}: it has no port ${adapter}/${unit}`);
  return undefined;
}

/** Adds a network: a link for two nodes, a switch for more, a NAT node for an uplink. */
function joinNetwork(
  lab: LabBuilder,
  network: ForeignMap<keyof typeof networkKeys>,
  { id, ends }: { readonly id: string; readonly ends: readonly string[] },
): void {
  const type = network.text('type') ?? 'bridge';
  const isOutside = /^(pnet|nat)/.test(type);
  const [one, other] = ends;
  const label = nodeName(network.text('name') || `Net-${id}`);
  const place = placeOf(network);
  for (const key of network.unread()) lab.lacks(`network ${label} ${key}`);
  if (!isOutside && ends.length === 2 && one !== undefined && other !== undefined) {
    lab.link(one, other);
    return;
  }
  const base = lab.has(label) ? `${label}-net${id}` : label;
  const report = lab.add(
    base,
    { kind: networkSwitch, ...(ends.length > 7 && { ports: Math.min(ends.length + 1, 1024) }), ...place },
    { taken: [type] },
  );
  for (const end of ends) lab.link(end, base);
  if (!isOutside) return;
  const beside = place && { x: place.x, y: place.y - 120 };
  lab.add(`${base}-out`, { kind: uplink, ...beside }, { taken: [type] });
  lab.link(base, `${base}-out`);
  report.changed.push(`${type}: a switch with a NAT node behind it`);
}

/** Adds a serial link, which is listed at both of its ends. */
function joinSerial(
  lab: LabBuilder,
  seen: Map<string, EvePort>,
  { node, port }: { readonly node: EveNodeMap; readonly port: EvePort },
): void {
  const own = `${node.text('id')}:${String(port.map.peek('id'))}`;
  const remote = `${port.map.text('remote_id')}:${port.map.text('remote_if')}`;
  const other = seen.get(remote);
  seen.delete(remote);
  if (other === undefined) seen.set(own, port);
  else lab.link(other.end, port.end);
}

/** Parses XML. Entities other than XML's own are refused, and so are documents that declare any. */
function readXml(text: string, file: string): XmlElement {
  if (text.length > maxLength) throw new LabError(`${file} has more than ${maxLength} characters`);
  const parser = new SaxesParser({ fileName: file });
  const open: XmlElement[] = [{ name: '', attributes: {}, children: [], text: '' }];
  let count = 0;
  const place = () => ({ file, line: parser.line, column: parser.column + 1 });
  parser.on('error', (error) => {
    throw new LabError(error.message.replace(/^[^:]*:\d+:\d+: /, ''), place());
  });
  parser.on('doctype', () => {
    throw new LabError('a document type has no place in a lab of EVE-NG. Remove it', place());
  });
  parser.on('opentag', ({ name, attributes }) => {
    count += 1;
    if (count > mostElements || open.length > deepest)
      throw new LabError(`more than ${mostElements} elements, or nested deeper than ${deepest}`, place());
    const element = { name, attributes: Object.fromEntries(Object.entries(attributes)), children: [], text: '' };
    open.at(-1)?.children.push(element);
    open.push(element);
  });
  parser.on('text', (part) => {
    const element = open.at(-1);
    if (element) element.text += part;
  });
  parser.on('closetag', () => void open.pop());
  parser.write(text).close();
  const [root] = open[0]?.children ?? [];
  if (!root) throw new LabError(`${file} holds no XML`);
  return root;
}

function child(element: XmlElement | undefined, name: string): XmlElement | undefined {
  return element?.children.find((one) => one.name === name);
}

function all(element: XmlElement | undefined, name: string): XmlElement[] {
  return (element?.children ?? []).filter((one) => one.name === name);
}
