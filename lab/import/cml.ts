/** Imports labs of Cisco Modeling Labs (YAML), to version 2.9. Source: the schema of its topology files. */

import { ForeignMap } from '../../src/schema/foreign-map.ts';
import { LabError } from '../file/lab-error.ts';
import { isTreeMap, readForeignYaml, type Tree, type TreeMap } from '../file/read-yaml.ts';
import {
  annotationKeys,
  conditioningKeys,
  configurationKeys,
  fileKeys,
  interfaceKeys,
  labKeys,
  linkKeys,
  nodeKeys,
} from './cml-keys.ts';
import { type ImportedLab, LabBuilder, mapOf, nodeName, textIn } from './foreign-lab.ts';
import {
  cmlSwitches,
  cmlUnixRouters,
  cmlUplinks,
  configDiskFile,
  machine,
  networkSwitch,
  unixRouter,
  unixRouterPorts,
  uplink,
} from './kinds.ts';

type CmlNodeMap = ForeignMap<keyof typeof nodeKeys>;
type CmlInterfaceMap = ForeignMap<keyof typeof interfaceKeys>;

interface CmlNode {
  readonly id: string;
  readonly map: CmlNodeMap;
  /** Interfaces that a link can end at. */
  readonly interfaces: readonly CmlInterfaceMap[];
}

/** Imports a lab. @throws LabError */
export function importCml(text: string, file: string): ImportedLab {
  const { value } = readForeignYaml(text, file);
  const top = new ForeignMap(value, fileKeys);
  const facts = top.map('lab', labKeys);
  const nodes = top.maps('nodes', nodeKeys);
  if (!isTreeMap(mapOf(value).lab) && nodes.length === 0)
    throw new LabError(`${file} is not a lab of CML: it has no \`lab\` and no \`nodes\``);
  const lab = new LabBuilder(facts.text('title') ?? facts.text('lab_title') ?? 'cml');
  const all = nodes.map((map): CmlNode => {
    const interfaces = map.maps('interfaces', interfaceKeys).filter((one) => {
      const type = one.peek('type');
      if (type === 'loopback') one.takeAll();
      else if (type === 'physical') one.raw('type');
      return type !== 'loopback';
    });
    return { id: map.text('id') ?? '', map, interfaces };
  });
  const names = new Map<string, string>();
  for (const node of all) names.set(node.id, addNode(lab, node));
  const ends: CmlLinkEnds = { names, ports: portsOf(all) };
  for (const link of top.maps('links', linkKeys)) addLink(lab, link, ends);
  for (const note of top.maps('annotations', annotationKeys)) addNote(lab, note);
  const tags = top.list('smart_annotations').map((one) => textIn(mapOf(one), 'tag') ?? textIn(mapOf(one), 'label') ?? '');
  if (tags.length > 0) lab.lacks(`smart annotations: ${tags.join(', ').slice(0, 500)}`);
  // Nodes report their own keys.
  for (const node of all) lab.report(names.get(node.id) ?? '')?.missing.push(...node.map.unread());
  for (const key of top.unread().filter((one) => !one.startsWith('nodes['))) lab.lacks(key);
  return lab.build();
}

function addNode(lab: LabBuilder, { id, map, interfaces }: CmlNode): string {
  const given = map.text('label') || id;
  const label = nodeName(given);
  const name = lab.has(label) ? `${label}-${id}` : label;
  const definition = map.text('node_definition') ?? '';
  const [x, y] = [map.number('x'), map.number('y')];
  // Nodes without a place are laid out with others.
  const place = x === undefined && y === undefined ? {} : { x: Math.round(x ?? 0), y: Math.round(y ?? 0) };
  if (cmlSwitches.has(definition)) {
    const count = interfaces.length;
    lab.add(
      name,
      { kind: networkSwitch, ...(count > 8 && { ports: Math.min(count, 1024) }), ...place },
      { taken: [definition], given },
    );
    return name;
  }
  if (cmlUplinks.has(definition)) {
    lab
      .add(name, { kind: uplink, ...place }, { taken: [definition], given })
      .changed.push('a NAT node: bridged connectors have no counterpart');
    return name;
  }
  if (cmlUnixRouters.has(definition)) {
    addUnixRouter(lab, { id, map, interfaces }, { name, given, place });
    return name;
  }
  const [cpus, memory] = [map.number('cpus'), map.number('ram')];
  const image = map.text('image_definition') ?? definition;
  const slots = interfaces.map((one, index) => slotOf(one, index));
  const addresses = interfaces.flatMap((one, index) => {
    const mac = macIn(one);
    return mac === undefined ? [] : [{ adapter_number: slots[index] ?? index, mac_address: mac }];
  });
  const { files, isRead } = configFiles(map, definition);
  const report = lab.add(
    name,
    {
      kind: machine,
      image: `${image}.qcow2`,
      memory: memory || 1024,
      ...(cpus && { cpus }),
      ...(interfaces.length > 0 && { adapters: Math.min(Math.max(...slots) + 1, 275) }),
      ...(addresses.length > 0 && { custom_adapters: addresses }),
      ...(Object.keys(files).length > 0 && { files }),
      ...place,
    },
    { taken: [definition, ...(memory ? [`${memory} MiB`] : [])], given },
  );
  report.missing.push(`its disk: put ${image}.qcow2 into the image folder, or name another as image`);
  if (!memory) report.changed.push('memory is 1024 MiB: its definition is not part of the file');
  report.taken.push(...Object.keys(files));
  if (!isRead) report.missing.push('a part of its configuration: the name of the file cannot be used');
  return name;
}

interface CmlPlaced {
  readonly name: string;
  /** Name in the file. */
  readonly given: string;
  readonly place: TreeMap;
}

/** Adds a router of IOL, which is a program with four Ethernet ports in each slot, and no machine. */
function addUnixRouter(lab: LabBuilder, { map, interfaces }: CmlNode, { name, given, place }: CmlPlaced): void {
  const definition = map.text('node_definition') ?? '';
  const image = map.text('image_definition') ?? definition;
  const memory = map.number('ram');
  const last = Math.max(0, ...interfaces.map(slotOf));
  const { files, isRead } = configFiles(map, definition);
  const [config, ...others] = Object.entries(files);
  const report = lab.add(
    name,
    {
      kind: unixRouter,
      image,
      ...(memory && { memory }),
      properties: { ethernet_adapters: Math.min(Math.floor(last / unixRouterPorts) + 1, 16), serial_adapters: 0 },
      ...(config && { config: config[1] }),
      ...place,
    },
    { taken: [definition, ...(config ? ['start-up configuration'] : [])], given },
  );
  report.missing.push(`its program: put that of ${image} into the image folder and name it as image`);
  if (others.length > 0 || !isRead) report.missing.push('a part of its configuration: a router has one file');
}

/** Reads the configuration: to CML 2.8 one text, later a list of named files. They are put on the config disk. */
function configFiles(map: CmlNodeMap, definition: string): { files: TreeMap; isRead: boolean } {
  const text = map.text('configuration');
  if (text !== undefined) {
    const name = configDiskFile(definition) ?? 'node.cfg';
    return { files: text.trim() === '' ? {} : { [`config/${name}`]: text }, isRead: true };
  }
  const given = map.maps('configuration', configurationKeys).map((one) => [one.text('name'), one.text('content')] as const);
  const usable = given.filter(([name, content]) => name !== undefined && /^[\w][\w.-]{0,99}$/.test(name) && content !== undefined);
  const files = Object.fromEntries(usable.map(([name, content]): [string, Tree] => [`config/${name}`, content ?? '']));
  return { files, isRead: usable.length === given.length };
}

/** Returns the number of the adapter that an interface is. */
function slotOf(one: CmlInterfaceMap, index: number): number {
  const slot = one.number('slot') ?? index;
  return Number.isInteger(slot) && slot >= 0 ? slot : index;
}

/** Returns the MAC address of an interface; one of another form counts as unread. */
function macIn(one: CmlInterfaceMap): string | undefined {
  return /^[0-9a-f]{2}(?::[0-9a-f]{2}){5}$/i.test(String(one.peek('mac_address'))) ? one.text('mac_address') : undefined;
}

/** Maps ids of a node and its interface to the port, of machines and routers; other nodes have a free one. */
function portsOf(nodes: readonly CmlNode[]): ReadonlyMap<string, string> {
  return new Map(
    nodes.flatMap(({ id, map, interfaces }) => {
      const definition = String(map.peek('node_definition') ?? '');
      const hasFreePorts = cmlSwitches.has(definition) || cmlUplinks.has(definition);
      const units = cmlUnixRouters.has(definition) ? unixRouterPorts : 1;
      const places = interfaces.map((one, index) => {
        const slot = slotOf(one, index);
        return [`${id} ${one.text('id')}`, `${Math.floor(slot / units)}/${slot % units}`] as const;
      });
      return hasFreePorts ? [] : places;
    }),
  );
}

interface CmlLinkEnds {
  readonly names: ReadonlyMap<string, string>;
  readonly ports: ReadonlyMap<string, string>;
}

function addLink(lab: LabBuilder, link: ForeignMap<keyof typeof linkKeys>, { names, ports }: CmlLinkEnds): void {
  const end = (node: 'n1' | 'n2', port: 'i1' | 'i2'): string => {
    const id = link.text(node) ?? '';
    const name = names.get(id);
    if (name === undefined) throw new LabError(`a link names the node "${id.slice(0, 100)}", which does not exist`);
    const place = ports.get(`${id} ${link.text(port)}`);
    return place === undefined ? name : `${name}:${place}`;
  };
  const conditions = link.map('conditioning', conditioningKeys);
  lab.link(end('n1', 'i1'), end('n2', 'i2'), conditioning(conditions));
  const others = conditions.flag('enabled') === false ? [] : conditions.unread().filter((key) => !conditions.isZero(key));
  conditions.takeAll();
  if (others.length > 0) lab.lacks(`conditions of the link ${link.peek('label') ?? link.peek('id') ?? ''}: ${others.join(', ')}`);
}

/** Converts the conditioning of a link; CML has the same units: milliseconds, percent and kbit/s. */
function conditioning(given: ForeignMap<keyof typeof conditioningKeys>): TreeMap {
  if (given.flag('enabled') === false) return {};
  const number = (key: keyof typeof conditioningKeys) => given.number(key) ?? 0;
  const [latency, jitter, loss, bandwidth] = [number('latency'), number('jitter'), number('loss'), number('bandwidth')];
  const [duplicate, corrupt] = [number('duplicate'), number('corrupt_prob')];
  const filters: Record<string, Tree> = {
    ...((latency > 0 || jitter > 0) && { delay: [latency, ...(jitter > 0 ? [jitter] : [])] }),
    ...(loss > 0 && { packet_loss: loss }),
    ...(bandwidth > 0 && { bandwidth }),
    ...(duplicate > 0 && { duplicate }),
    ...(corrupt > 0 && { corrupt }),
  };
  return Object.keys(filters).length > 0 ? { filters } : {};
}

function addNote(lab: LabBuilder, note: ForeignMap<keyof typeof annotationKeys>): void {
  const text = note.text('text_content');
  if (!text) {
    lab.lacks(`annotation of type ${note.peek('type') ?? 'unknown'}`);
    note.takeAll();
    return;
  }
  if (note.peek('type') === 'text') note.raw('type');
  lab.drawText(text, Math.round(note.number('x1') ?? 0), Math.round(note.number('y1') ?? 0));
}
