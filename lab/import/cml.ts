/** Imports labs of Cisco Modeling Labs (YAML). Source: the schema of its topology files. */
import { LabError } from '../file/lab-error.ts';
import { isTreeMap, readYaml, type Tree, type TreeMap } from '../file/read-yaml.ts';
import { type ImportedLab, LabBuilder, listOf, mapOf, nodeName, numberIn, textIn } from './foreign-lab.ts';
import { cmlSwitches, cmlUplinks, machine, networkSwitch, uplink } from './kinds.ts';

/** Imports a lab. @throws LabError */
export function importCml(text: string, file: string): ImportedLab {
  const { value } = readYaml(text, file);
  const top = mapOf(value);
  const nodes = listOf(top.nodes).map(mapOf);
  if (!isTreeMap(top.lab) && nodes.length === 0)
    throw new LabError(`${file} is not a lab of CML: it has no \`lab\` and no \`nodes\``);
  const lab = new LabBuilder(textIn(mapOf(top.lab), 'title') ?? textIn(mapOf(top.lab), 'lab_title') ?? 'cml');
  const names = new Map<string, string>();
  for (const node of nodes) names.set(textIn(node, 'id') ?? '', addNode(lab, node));
  const ports = portsOf(nodes);
  for (const link of listOf(top.links).map(mapOf)) addLink(lab, link, names, ports);
  for (const note of listOf(top.annotations).map(mapOf)) addNote(lab, note);
  const tags = listOf(top.smart_annotations).map((one) => textIn(mapOf(one), 'tag') ?? textIn(mapOf(one), 'label') ?? '');
  if (tags.length > 0) lab.lacks(`smart annotations: ${tags.join(', ').slice(0, 500)}`);
  return lab.build();
}

function addNode(lab: LabBuilder, node: TreeMap): string {
  const label = nodeName(textIn(node, 'label') ?? textIn(node, 'id') ?? '');
  const name = lab.has(label) ? `${label}-${textIn(node, 'id') ?? ''}` : label;
  const definition = textIn(node, 'node_definition') ?? '';
  const place = { x: Math.round(numberIn(node, 'x') ?? 0), y: Math.round(numberIn(node, 'y') ?? 0) };
  if (cmlSwitches.has(definition)) {
    const count = listOf(node.interfaces).length;
    lab.add(name, { kind: networkSwitch, ...(count > 8 && { ports: Math.min(count, 1024) }), ...place }, [definition]);
    return name;
  }
  if (cmlUplinks.has(definition)) {
    lab.add(name, { kind: uplink, ...place }, [definition]).changed.push('a NAT node: bridged connectors have no counterpart');
    return name;
  }
  const cpus = numberIn(node, 'cpus');
  const memory = numberIn(node, 'ram');
  const image = textIn(node, 'image_definition') ?? definition;
  const adapters = listOf(node.interfaces)
    .map(mapOf)
    .filter((one) => textIn(one, 'type') !== 'loopback').length;
  const files = configFiles(node.configuration);
  const report = lab.add(
    name,
    {
      kind: machine,
      image: `${image}.qcow2`,
      memory: memory || 1024,
      ...(cpus && { cpus }),
      ...(adapters > 0 && { adapters: Math.min(adapters, 275) }),
      ...(Object.keys(files).length > 0 && { files }),
      ...place,
    },
    [definition, ...(memory ? [`${memory} MiB`] : [])],
  );
  report.missing.push(`its disk: put ${image}.qcow2 into the image folder, or name another as image`);
  if (!memory) report.changed.push('memory is 1024 MiB: its definition is not part of the file');
  if (Object.keys(files).length > 0) report.taken.push(...Object.keys(files));
  else if (textIn(node, 'configuration') || listOf(node.configuration).length > 0)
    report.missing.push('its configuration: put it on a config disk, or paste it into the console');
  return name;
}

/** Reads the configuration files. Since CML 2.8 a configuration may be a list of named files: they are put on the config disk. */
function configFiles(configuration: Tree | undefined): TreeMap {
  const files = listOf(configuration ?? null).map((one) => [textIn(mapOf(one), 'name'), textIn(mapOf(one), 'content')] as const);
  const usable = files.filter(([name, content]) => name !== undefined && /^[\w][\w.-]{0,99}$/.test(name) && content !== undefined);
  return usable.length < files.length ? {} : Object.fromEntries(usable.map(([name, content]) => [`config/${name}`, content ?? '']));
}

/** Maps an interface id to its number among the node's interfaces. */
function portsOf(nodes: readonly TreeMap[]): ReadonlyMap<string, number> {
  return new Map(
    nodes.flatMap((node) =>
      listOf(node.interfaces)
        .map(mapOf)
        .filter((one) => textIn(one, 'type') !== 'loopback')
        .map((one, index) => [`${textIn(node, 'id')} ${textIn(one, 'id')}`, numberIn(one, 'slot') ?? index] as const),
    ),
  );
}

function addLink(lab: LabBuilder, link: TreeMap, names: ReadonlyMap<string, string>, ports: ReadonlyMap<string, number>): void {
  const end = (node: string, port: string): string => {
    const id = textIn(link, node) ?? '';
    const name = names.get(id);
    if (name === undefined) throw new LabError(`a link names the node "${id.slice(0, 100)}", which does not exist`);
    const number = ports.get(`${id} ${textIn(link, port)}`);
    const isMachine = lab.report(name)?.missing.some((text) => text.startsWith('its disk'));
    return number !== undefined && isMachine ? `${name}:${number}/0` : name;
  };
  const given = mapOf(link.conditioning);
  lab.link(end('n1', 'i1'), end('n2', 'i2'), conditioning(given));
  const others = Object.keys(given).filter((key) => !conditions.includes(key) && key !== 'enabled' && numberIn(given, key));
  if (others.length > 0 && given.enabled !== false) {
    lab.lacks(`conditions of the link ${textIn(link, 'label') ?? textIn(link, 'id') ?? ''}: ${others.join(', ')}`);
  }
}

const conditions = ['latency', 'jitter', 'loss', 'bandwidth'];

/** Converts the conditioning of a link; CML has the same units: milliseconds, percent and kbit/s. */
function conditioning(given: TreeMap): TreeMap {
  if (Object.keys(given).length === 0 || given.enabled === false) return {};
  const [latency, jitter, loss, bandwidth] = conditions.map((key) => numberIn(given, key));
  const filters: Record<string, Tree> = {
    ...((latency || jitter) && { delay: [latency ?? 0, ...(jitter ? [jitter] : [])] }),
    ...(loss && { packet_loss: loss }),
    ...(bandwidth && { bandwidth }),
  };
  return Object.keys(filters).length > 0 ? { filters } : {};
}

function addNote(lab: LabBuilder, note: TreeMap): void {
  const text = textIn(note, 'text_content');
  if (!text) {
    lab.lacks(`annotation of type ${textIn(note, 'type') ?? 'unknown'}`);
    return;
  }
  lab.draw({ text: text.slice(0, 10_000), x: Math.round(numberIn(note, 'x1') ?? 0), y: Math.round(numberIn(note, 'y1') ?? 0) });
}
