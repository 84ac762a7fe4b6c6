/** Writes a project as a lab file that recreates it. Ids, statuses, console ports and the contents of disks are left out. */
import { Document, isSeq, visit } from 'yaml';
import type { Drawing } from '../src/schema/drawing.ts';
import type { KindFacts } from '../src/schema/kind.ts';
import type { Link, LinkEnd, LinkMirror } from '../src/schema/link.ts';
import { type Label, labelOffset, type Node, type NodeCreate } from '../src/schema/node.ts';
import { type Project, ProjectUpdate, projectDefaults } from '../src/schema/project.ts';
import type { LinkSchedule } from '../src/schema/schedule.ts';
import type { Template } from '../src/schema/template.ts';
import { nodeFrom } from '../src/schema/template-node.ts';
import { drawingKeys, linkKeys, lostKeys, nodeKeys, projectKeys } from './export-keys.ts';
import { scheduleWithoutStart } from './file/link-schedule.ts';
import { escapeVariables } from './file/variables.ts';
import { shortPortList } from './plan/port-list.ts';
import type { LabApi } from './state/lab-api.ts';
import { type LabCatalog, type LabProjectState, readCatalog, readFiles, readProject, readSchemas } from './state/lab-state.ts';

/** Reads the project and catalog from a server, and exports the project. */
export async function exportFrom(api: LabApi, project: Project): Promise<string> {
  return exportLab(...(await readForExport(api, project)));
}

/** Reads a project with the files that an export holds, and the catalog with the schemas of its kinds. */
export async function readForExport(api: LabApi, project: Project): Promise<[LabProjectState, LabCatalog]> {
  const [state, catalog] = await Promise.all([readProject(api, project), readCatalog(api)]);
  const wanted = state.nodes.flatMap(({ node_id: id, node_type, properties }) => {
    const { startup_file, config_disk, files: others = [] } = catalog.kinds.get(node_type)?.lab ?? {};
    const isAttached = config_disk !== undefined && properties[config_disk.property] === true;
    const files = [...(startup_file === undefined ? [] : [startup_file]), ...(isAttached ? pathsOf(config_disk) : [])];
    return [...files.map((file) => ({ id, file })), ...others.map((file) => ({ id, file, isOptional: true }))];
  });
  const [schemas, files, others] = await Promise.all([
    readSchemas(
      api,
      state.nodes.map(({ node_type }) => node_type),
    ),
    readFiles(api, `/v2/projects/${project.project_id}`, wanted),
    readOthers(api, `/v2/projects/${project.project_id}`),
  ]);
  return [
    { ...state, files, others },
    { ...catalog, schemas },
  ];
}

/** Lists the parts of a project that no export has. */
async function readOthers(api: LabApi, path: string): Promise<string[]> {
  const [notes, snapshots] = await Promise.all([
    api.text(`${path}/files/README.txt`),
    api.json<unknown[]>('GET', `${path}/snapshots`),
  ]);
  return [
    ...(notes ? ['the notes of the project (README.txt)'] : []),
    ...(snapshots.length > 0 ? [`${snapshots.length} snapshot${snapshots.length > 1 ? 's' : ''}`] : []),
  ];
}

const pathsOf = ({ folder, files }: NonNullable<KindFacts['lab']['config_disk']>) => files.map((file) => `${folder}/${file}`);

/** Most names of nodes in a remark. */
const shownNames = 8;

type LabFields = Record<string, unknown>;

/** Returns the text of the lab file. */
export function exportLab(state: LabProjectState, catalog: LabCatalog): string {
  const { project, nodes, links, drawings } = state;
  const byId = new Map(nodes.map((node) => [node.node_id, node]));
  const settings = settingsOf(project);
  const lab = {
    name: project.name ?? 'lab',
    ...(Object.keys(settings).length > 0 && { project: settings }),
    nodes: Object.fromEntries(nodes.map((node) => nodeEntry(node, state, catalog))),
    ...(links.length > 0 && { links: links.map((link) => linkOf(link, state, byId)) }),
    ...(drawings.length > 0 && { drawings: drawings.map(drawingOf) }),
  };
  const document = new Document(escaped(lab), { aliasDuplicateObjects: false });
  // Links and other short lists are written on one line.
  visit(document, {
    Seq: (_key, seq) => {
      if (
        seq.items.every((item) => !isSeq(item) && typeof (item as { value?: unknown }).value !== 'undefined') &&
        seq.items.length <= 4
      )
        seq.flow = true;
    },
  });
  const others = (state.others ?? []).map((one) => `Not exported: ${one}.`);
  const remarks = [...others, ...remarksOn(nodes, catalog), ...remarksOnKeys(state, catalog)].map((remark) => ` ${remark}`);
  if (remarks.length > 0) document.commentBefore = remarks.join('\n');
  return document.toString({ lineWidth: 120, flowCollectionPadding: false });
}

function remarksOn(nodes: readonly Node[], { kinds, templates }: LabCatalog): string[] {
  // The server lists no files of additional volumes, so a project made from this text would lack them.
  const unread = nodes.filter(({ properties }) => Array.isArray(properties.extra_volumes) && properties.extra_volumes.length > 0);
  const warm = nodes.filter((node) => warmTemplateOf(node, templates));
  // Only files of usual names are read from config disks.
  const disks = nodes.filter(({ node_type, properties }) => {
    const { config_disk: disk } = kinds.get(node_type)?.lab ?? {};
    return disk !== undefined && properties[disk.property] === true;
  });
  return [
    ...(disks.length > 0 ? [`Not exported: files of unusual names on the config disks of ${namesOf(disks)}.`] : []),
    ...(unread.length > 0 ? [`Not exported: files in the volumes of ${namesOf(unread)}. Add them as \`files\`.`] : []),
    ...(warm.length > 0 ? [`Only this server has the booted machines that ${namesOf(warm)} continue from, in its templates.`] : []),
  ];
}

/** Returns a remark for each object with keys that the lab file does not have. */
function remarksOnKeys({ project, nodes, links, drawings }: LabProjectState, { kinds, schemas }: LabCatalog): string[] {
  const remark = (what: string, keys: readonly string[]) =>
    keys.length > 0 ? [`Not exported of ${oneLine(what)}: ${keys.map(oneLine).join(', ')}.`] : [];
  const lostProperties = ({ node_type, properties }: Node) =>
    Object.entries(properties).flatMap(([key, value]) => {
      const isOfServer = notProperties.has(key) || kinds.get(node_type)?.lab.generated.includes(key);
      const isKnown = schemas.get(node_type)?.[key] !== undefined;
      return isOfServer || isKnown || value === null || value === '' ? [] : [`property ${key}`];
    });
  return [
    ...remark('the project', lostKeys(project, projectKeys)),
    ...nodes.flatMap((node) => remark(node.name, [...lostKeys(node, nodeKeys), ...lostProperties(node)])),
    ...links.flatMap((link) => remark(`link ${link.link_id}`, lostKeys(link, linkKeys))),
    ...drawings.flatMap((drawing) => remark(`drawing ${drawing.drawing_id}`, lostKeys(drawing, drawingKeys))),
  ];
}

/** Returns a text that cannot end a comment. */
const oneLine = (text: string) => text.replaceAll(/[\p{Cc}\u2028\u2029]/gu, '?').slice(0, 100);

function namesOf(nodes: readonly Node[]): string {
  const more = nodes.length > shownNames ? ` and ${nodes.length - shownNames} more` : '';
  const shown = nodes.slice(0, shownNames).map(({ name }) => name);
  return `${shown.join(', ')}${more}`;
}

/** Returns the template with a booted machine from which a node like this one would continue. */
function warmTemplateOf({ template_id, node_type, compute_id }: Node, templates: LabCatalog['templates']): Template | undefined {
  return templates.find(
    (one) => one.warm && one.template_id === template_id && one.template_type === node_type && one.compute_id === compute_id,
  );
}

/** Escapes `${` in values. */
function escaped(value: unknown): unknown {
  if (typeof value === 'string') return escapeVariables(value);
  if (Array.isArray(value)) return value.map(escaped);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, escaped(one)]));
}

function settingsOf(project: Project): LabFields {
  const keys = Object.keys(ProjectUpdate.properties).filter((key) => key !== 'name' && key !== 'path');
  const entries = keys.map((key) => [key, project[key as keyof Project]] as const);
  return Object.fromEntries(
    entries.filter(
      ([key, value]) => value !== undefined && JSON.stringify(value) !== JSON.stringify((projectDefaults as LabFields)[key]),
    ),
  );
}

/** Whether a file has more than comments: the server's sample files have none but comments. */
const isMoreThanComments = (text: string) => /^[^\S\n]*[^\s#]/m.test(text);

/** Keys that need no quotes. */
const plainKey = /^[\p{L}\p{N}_][\p{L}\p{N}_.+@-]*$/u;

function nodeEntry(node: Node, state: LabProjectState, catalog: LabCatalog): [string, LabFields] {
  const name = node.name.replaceAll(' ', '');
  const facts = catalog.kinds.get(node.node_type);
  const { startup_file: startupFile, files: others = [] } = facts?.lab ?? {};
  const { config, ...files } = Object.fromEntries(
    [...(state.files.get(node.node_id) ?? [])]
      .filter(([path, text]) => !others.includes(path) || isMoreThanComments(text))
      .map(([path, text]) => [path === startupFile ? 'config' : path, text]),
  );
  const isPlain = plainKey.test(name) && name !== '__proto__';
  const template = warmTemplateOf(node, catalog.templates);
  const base = template && nodeFrom(template, { x: 0, y: 0, name }, node.compute_id);
  return [
    isPlain ? name : node.node_id,
    {
      ...(!isPlain && { name }),
      ...(template ? { template: wordFor(template, catalog.templates) } : { kind: node.node_type }),
      ...(node.compute_id !== 'local' && { compute: node.compute_id }),
      ...propertiesOf(node, facts, catalog, base),
      ...fieldsOf(node, facts, base),
      ...(config !== undefined && { config }),
      ...(Object.keys(files).length > 0 && { files }),
      x: node.x,
      y: node.y,
      ...(node.z !== 1 && { z: node.z }),
    },
  ];
}

/** Returns the word by which a lab file names a template: its name, or its id where several have the name. */
function wordFor({ name, template_id }: Template, templates: LabCatalog['templates']): string {
  return templates.filter((one) => one.name === name).length === 1 ? name : template_id;
}

/** Returns the properties, by the names of short forms where possible, without server-made ones and those of `base`. */
function propertiesOf(
  { node_type, properties }: Node,
  facts: KindFacts | undefined,
  { schemas }: LabCatalog,
  base: NodeCreate | undefined,
): LabFields {
  const { image, image_defaults = {}, memory, cpus, generated = [], port_list } = facts?.lab ?? {};
  const short = port_list === undefined ? undefined : shortPortList(properties.ports_mapping);
  const words = new Map<string, string>();
  for (const [word, property] of Object.entries({ image, memory, cpus, adapters: 'adapters' }))
    if (property !== undefined) words.set(property, word);
  const named: LabFields = {};
  const others: LabFields = {};
  for (const [key, value] of Object.entries(properties)) {
    const isKnown = schemas.get(node_type)?.[key] !== undefined && !generated.includes(key) && !notProperties.has(key);
    const { default: ofKind } = (schemas.get(node_type)?.[key] ?? {}) as { default?: unknown };
    const standard = base ? base.properties?.[key] : ofKind;
    const isStandard = value === null || JSON.stringify(value) === JSON.stringify(standard ?? '');
    // A node with an image and without a value in the file would get the image's default instead of the standard one.
    const isImplied = !base && image !== undefined && properties[image] !== '' && Object.hasOwn(image_defaults, key);
    if (!isKnown || (isStandard && !isImplied) || (short && key === 'ports_mapping')) continue;
    const word = words.get(key);
    if (word !== undefined && isShort(value)) named[word] = value;
    else others[key] = value;
  }
  return { ...named, ...short, ...(Object.keys(others).length > 0 && { properties: others }) };
}

/** Whether a short form can express the value: it cannot express an amount of 0. */
function isShort(value: unknown): boolean {
  return typeof value === 'string' || (typeof value === 'number' && value > 0);
}

/** Keys in a kind's schema that are fields of the node itself. */
const notProperties: ReadonlySet<string> = new Set([
  'console',
  'console_type',
  'custom_adapters',
  'name',
  'node_id',
  'project_id',
  'status',
]);

/** Returns the fields beside properties that differ from a new node's of its kind. */
export function nodeFieldsDiffering(node: Node, { kinds }: Pick<LabCatalog, 'kinds'>): LabFields {
  return fieldsOf(node, kinds.get(node.node_type), undefined);
}

/** Returns the fields that differ from a new node's of its kind, or from `base`. */
function fieldsOf(node: Node, facts: KindFacts | undefined, base: NodeCreate | undefined): LabFields {
  const standard: LabFields = {
    symbol: facts?.symbol,
    console_type: facts?.console_type,
    console_auto_start: false,
    custom_adapters: [],
    first_port_name: null,
    port_name_format: facts?.port_name_format,
    port_segment_size: facts?.port_segment_size,
    locked: false,
    template_id: null,
  };
  const differing = Object.entries(standard).filter(([key, ofKind]) => {
    const [value, usual] = [node[key as keyof Node], (base as LabFields | undefined)?.[key] ?? ofKind];
    return value !== null && JSON.stringify(value) !== JSON.stringify(usual);
  });
  return { ...Object.fromEntries(differing.map(([key]) => [key, node[key as keyof Node]])), ...labelOf(node.label, node.height) };
}

/** Returns the label; empty where it equals the server's default. */
function labelOf({ text: _text, ...label }: Label, height: number): LabFields {
  const { rotation = 0, style = null, x = null, y } = label;
  return rotation === 0 && style === null && x === null && y === labelOffset(height) ? {} : { label };
}

function linkOf(link: Link, { mirrors, schedules }: LabProjectState, byId: ReadonlyMap<string, Node>): unknown {
  const ends = link.nodes.map((end) => endOf(end, byId.get(end.node_id)));
  const [mirror, schedule] = [mirrors.get(link.link_id), schedules.get(link.link_id)];
  const isImpaired = Object.keys(link.filters).length > 0 || link.suspend || schedule !== undefined;
  const isPlain = !isImpaired && !mirror && Object.keys(link.link_style).length === 0;
  if (isPlain && ends.every((end) => typeof end === 'string')) return ends;
  return {
    ends,
    ...(Object.keys(link.filters).length > 0 && { filters: link.filters }),
    ...(link.suspend && { suspend: true }),
    ...(mirror && { mirror: endOf(mirror, byId.get(mirror.node_id)) }),
    ...(schedule && { schedule: scheduleFields(schedule) }),
    ...(Object.keys(link.link_style).length > 0 && { style: link.link_style }),
  };
}

/** Returns a schedule without its start: it starts again where the file is applied. */
function scheduleFields(schedule: LinkSchedule): LabFields {
  const { repeat, steps, traces, ...timing } = scheduleWithoutStart(schedule);
  return {
    ...timing,
    ...(repeat !== undefined && { repeat: repeat === 0 ? 'forever' : repeat }),
    ...(steps.length > 0 && { steps }),
    ...(traces.length > 0 && { traces }),
  };
}

function endOf(
  { node_id, adapter_number, port_number, label }: LinkMirror & Pick<LinkEnd, 'label'>,
  node: Node | undefined,
): unknown {
  const name = node?.name.replaceAll(' ', '') ?? node_id;
  const port = node?.ports.find((one) => one.adapter_number === adapter_number && one.port_number === port_number);
  const isUnique = port !== undefined && node?.ports.filter((one) => one.name === port.name).length === 1;
  const portName = isUnique ? port.name : `${adapter_number}/${port_number}`;
  const isPlain = plainKey.test(name) && /^\S+$/.test(portName);
  if (isPlain && isStandardLabel(label, `${adapter_number}/${port_number}`)) return `${name}:${portName}`;
  return { node: name, port: portName, ...(label && { label }) };
}

/** Whether a link end's label is the one that the server makes. */
function isStandardLabel(label: Label | undefined, text: string): boolean {
  return label === undefined || (label.text === text && label.x === undefined && label.y === undefined && !label.rotation);
}

function drawingOf({ svg, x, y, z, rotation, locked }: Drawing): LabFields {
  return { svg, x, y, z, ...(rotation !== 0 && { rotation }), ...(locked && { locked: true }) };
}
