/** Imports labs of EVE-NG (`.unl`, XML). Source: files that EVE-NG's users publish and its documents. */
import { SaxesParser } from 'saxes';
import { LabError } from '../file/lab-error.ts';
import type { TreeMap } from '../file/read-yaml.ts';
import { type ImportedLab, LabBuilder, nodeName, numberIn, textIn } from './foreign-lab.ts';
import { container, eveKinds, machine, networkSwitch, pc, router, unixRouter, uplink } from './kinds.ts';

/** Longest file, characters. */
const maxLength = 8_388_608;
const mostElements = 50_000;
const deepest = 32;

interface XmlElement {
  readonly name: string;
  readonly attributes: TreeMap;
  readonly children: XmlElement[];
  text: string;
}

/** Imports a lab. @throws LabError */
export function importEve(text: string, file: string): ImportedLab {
  const root = readXml(text, file);
  if (root.name !== 'lab') throw new LabError(`${file} is not a lab of EVE-NG: its outermost element is <${root.name}>, not <lab>`);
  const lab = new LabBuilder(textIn(root.attributes, 'name') ?? 'eve');
  const topology = child(root, 'topology');
  const configs = new Map(
    all(child(child(root, 'objects'), 'configs'), 'config').map((one) => [textIn(one.attributes, 'id'), one.text]),
  );
  const networks = new Map(all(child(topology, 'networks'), 'network').map((one) => [textIn(one.attributes, 'id') ?? '', one]));
  const ends = new Map<string, string[]>();
  const serial = new Map<string, string>();
  for (const node of all(child(topology, 'nodes'), 'node')) {
    const name = addNode(lab, node.attributes, configs);
    for (const { attributes } of all(node, 'interface')) {
      const end = `${name}${portOf(node.attributes, attributes)}`;
      const network = textIn(attributes, 'network_id');
      if (network !== undefined && network !== '0') ends.set(network, [...(ends.get(network) ?? []), end]);
      if (textIn(attributes, 'remote_id') !== undefined) joinSerial(lab, serial, { node: node.attributes, port: attributes, end });
    }
  }
  for (const object of all(child(child(root, 'objects'), 'textobjects'), 'textobject')) addText(lab, object);
  const drawn = ['lineobjects', 'pictures'].filter((name) => (child(child(root, 'objects'), name)?.children.length ?? 0) > 0);
  if (drawn.length > 0) lab.lacks(drawn.join(' and '));
  for (const [id, list] of ends) joinNetwork(lab, networks.get(id)?.attributes ?? {}, { id, ends: list });
  return lab.build();
}

function addNode(lab: LabBuilder, node: TreeMap, configs: ReadonlyMap<string | undefined, string>): string {
  const label = nodeName(textIn(node, 'name') ?? '');
  const name = lab.has(label) ? `${label}-${textIn(node, 'id') ?? ''}` : label;
  const type = textIn(node, 'type') ?? '';
  const [image = '', template = ''] = [textIn(node, 'image'), textIn(node, 'template')];
  const kind = eveKinds.get(type);
  const [cpus, memory, adapters] = [numberIn(node, 'cpu'), numberIn(node, 'ram'), numberIn(node, 'ethernet')];
  const place = { x: Math.round(numberIn(node, 'left') ?? 0), y: Math.round(numberIn(node, 'top') ?? 0) };
  const isMachine = kind === machine;
  const fields: TreeMap = {
    kind: kind ?? machine,
    ...(kind !== pc && { image: isMachine || kind === undefined ? `${image || template || type}.qcow2` : image }),
    ...(kind !== pc && kind !== container && memory && { memory }),
    ...(isMachine && cpus && { cpus }),
    ...((isMachine || kind === container) &&
      adapters && { adapters: Math.min(Math.max(adapters, 1), kind === container ? 99 : 275) }),
    ...(kind === router && { properties: { platform: /^c\d{4}$/.test(template) ? template : 'c7200' } }),
    ...(kind === unixRouter && { properties: { ethernet_adapters: Math.min(adapters ?? 1, 16) } }),
    ...place,
  };
  const report = lab.add(name, fields, [`${type} ${image || template}`.trim()]);
  if (kind === undefined) report.changed.push(`type "${type}" is taken as a virtual machine`);
  if (isMachine)
    report.missing.push(
      `its disk: EVE-NG has a folder ${image || template}; put its disk into the image folder and name it as image`,
    );
  if (kind === router || kind === unixRouter) report.missing.push('a compute that runs it: it is stored only');
  const config = configs.get(textIn(node, 'id'));
  if (config !== undefined && textIn(node, 'config') === '0')
    report.missing.push('its saved configuration, which is not used at its start');
  else addConfig(report, fields, config);
  return name;
}

function addConfig(report: { taken: string[]; missing: string[] }, fields: TreeMap, config: string | undefined): void {
  const text = config === undefined ? '' : Buffer.from(config, 'base64').toString('utf8');
  if (text.trim() === '') return;
  if (fields.kind === pc || fields.kind === router || fields.kind === unixRouter) {
    fields.config = text.slice(0, 1_000_000);
    report.taken.push('start-up configuration');
  } else report.missing.push('its start-up configuration: put it on a config disk, or paste it into the console');
}

/** Adds a text object, whose data is base64 of HTML, or in old labs of HTML in a text. Only its text and position are imported. */
function addText(lab: LabBuilder, object: XmlElement): void {
  const html = Buffer.from(child(object, 'data')?.text ?? '', 'base64')
    .toString('utf8')
    .slice(0, 100_000);
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
  lab.draw({ text: text.slice(0, 10_000), x: pixels('left'), y: pixels('top') });
}

/** Names a port: interfaces of machines and containers are numbered; others take the first free port. */
function portOf(node: TreeMap, port: TreeMap): string {
  const number = numberIn(port, 'id');
  const kind = eveKinds.get(textIn(node, 'type') ?? '');
  return (kind === machine || kind === container) && number !== undefined && number >= 0 ? `:${number}/0` : '';
}

/** Adds a network: a link for two nodes, a switch for more, a NAT node for an uplink. */
function joinNetwork(
  lab: LabBuilder,
  network: TreeMap,
  { id, ends }: { readonly id: string; readonly ends: readonly string[] },
): void {
  const type = textIn(network, 'type') ?? 'bridge';
  const isOutside = /^(pnet|nat)/.test(type);
  const [one, other] = ends;
  if (!isOutside && ends.length === 2 && one !== undefined && other !== undefined) {
    lab.link(one, other);
    return;
  }
  const label = nodeName(textIn(network, 'name') || `Net-${id}`);
  const base = lab.has(label) ? `${label}-net${id}` : label;
  const place = { x: Math.round(numberIn(network, 'left') ?? 0), y: Math.round(numberIn(network, 'top') ?? 0) };
  const report = lab.add(
    base,
    { kind: networkSwitch, ...(ends.length > 7 && { ports: Math.min(ends.length + 1, 1024) }), ...place },
    [type],
  );
  for (const end of ends) lab.link(end, base);
  if (!isOutside) return;
  lab.add(`${base}-out`, { kind: uplink, x: place.x, y: place.y - 120 }, [type]);
  lab.link(base, `${base}-out`);
  report.changed.push(`${type}: a switch with a NAT node behind it`);
}

/** Adds a serial link, which is listed at both of its ends. */
function joinSerial(
  lab: LabBuilder,
  seen: Map<string, string>,
  { node, port, end }: { readonly node: TreeMap; readonly port: TreeMap; readonly end: string },
): void {
  const own = `${textIn(node, 'id')}:${textIn(port, 'id')}`;
  const remote = `${textIn(port, 'remote_id')}:${textIn(port, 'remote_if')}`;
  const other = seen.get(remote);
  if (other === undefined) {
    seen.set(own, end);
    return;
  }
  for (const name of [end, other]) lab.report(name.split(':')[0] ?? '')?.missing.push('a serial link: its ports must be named');
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
