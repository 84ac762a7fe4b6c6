/** Reads a server's state: the project of a lab file, and the kinds, templates and computes. */
import { forEachBounded } from '../../src/lib/bounded.ts';
import type { ComputeObject } from '../../src/schema/compute.ts';
import type { Drawing } from '../../src/schema/drawing.ts';
import type { KindFacts, KindSchemas } from '../../src/schema/kind.ts';
import type { Link, LinkMirror, MirrorOfLink } from '../../src/schema/link.ts';
import type { Node, NodeType } from '../../src/schema/node.ts';
import type { Project } from '../../src/schema/project.ts';
import type { LinkSchedule, ScheduleOfLink } from '../../src/schema/schedule.ts';
import type { Template } from '../../src/schema/template.ts';
import type { Lab } from '../file/lab.ts';
import { LabError } from '../file/lab-error.ts';
import type { LabApi } from './lab-api.ts';

/** Most requests at a time. */
export const atOnce = 8;

/** Kinds, templates and computes of the server. */
export interface LabCatalog {
  readonly kinds: ReadonlyMap<NodeType, KindFacts>;
  /** JSON Schemas of properties, for the requested kinds. */
  readonly schemas: ReadonlyMap<NodeType, Readonly<Record<string, object>>>;
  readonly templates: readonly Template[];
  readonly computes: readonly Pick<ComputeObject, 'compute_id' | 'name'>[];
}

export interface LabProjectState {
  readonly project: Project;
  readonly nodes: readonly Node[];
  readonly links: readonly Link[];
  /** Mirrors by link id. */
  readonly mirrors: ReadonlyMap<string, LinkMirror>;
  readonly drawings: readonly Drawing[];
  /** Schedules by link id. */
  readonly schedules: ReadonlyMap<string, LinkSchedule>;
  /** Contents of files that the lab file or the kind names, by node id and path. */
  readonly files: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** Parts of the project that no export has, in words; read for exports only. */
  readonly others?: readonly string[];
}

export async function readCatalog(api: Pick<LabApi, 'json'>): Promise<Omit<LabCatalog, 'schemas'>> {
  const [kinds, templates, computes] = await Promise.all([
    api.json<KindFacts[]>('GET', '/v2/kinds'),
    api.json<Template[]>('GET', '/v2/templates'),
    api.json<ComputeObject[]>('GET', '/v2/computes'),
  ]);
  return { kinds: new Map(kinds.map((facts) => [facts.node_type, facts])), templates, computes };
}

export async function readSchemas(api: Pick<LabApi, 'json'>, types: Iterable<NodeType>): Promise<LabCatalog['schemas']> {
  const schemas = new Map<NodeType, Readonly<Record<string, object>>>();
  await bounded(new Set(types), async (type) => {
    const { node } = await api.json<KindSchemas>('GET', `/v2/kinds/${type}/schemas`);
    schemas.set(type, node.properties as Record<string, object>);
  });
  return schemas;
}

/** Reads the catalog with the schemas of the kinds that a lab uses. */
export async function readLabCatalog(api: LabApi, lab: Lab): Promise<LabCatalog> {
  const catalog = await readCatalog(api);
  const types = lab.nodes.flatMap(({ kind, template }) => kind ?? findTemplate(catalog.templates, template)?.template_type ?? []);
  return {
    ...catalog,
    schemas: await readSchemas(
      api,
      types.filter((type) => catalog.kinds.has(type)),
    ),
  };
}

export function findTemplate(templates: readonly Template[], nameOrId: string | undefined): Template | undefined {
  const byName = templates.filter(({ name }) => name === nameOrId);
  return templates.find(({ template_id }) => template_id === nameOrId) ?? byName[0];
}

/** Finds a project by id or by name; undefined when there is none. */
export async function findProject(api: LabApi, nameOrId: string): Promise<Project | undefined> {
  const projects = await api.json<Project[]>('GET', '/v2/projects');
  return projects.find(({ project_id }) => project_id === nameOrId) ?? projects.find(({ name }) => name === nameOrId);
}

/** Finds a project by id or by name. @throws LabError when there is none */
export async function getProject(api: LabApi, nameOrId: string): Promise<Project> {
  const project = await findProject(api, nameOrId);
  if (!project) throw new LabError(`there is no project "${nameOrId}". \`patchbay lab list\` lists those of this server`);
  return project;
}

/** Reads a project's state. @throws LabError when the project is closed */
export async function readProject(api: LabApi, project: Project, lab?: Lab): Promise<LabProjectState> {
  const path = `/v2/projects/${project.project_id}`;
  if (project.status !== 'opened') {
    throw new LabError(`the project "${project.name}" is closed. \`patchbay lab apply\` and \`patchbay lab start\` open it`);
  }
  const [nodes, links, mirrored, drawings, schedules] = await Promise.all([
    api.json<Node[]>('GET', `${path}/nodes`),
    api.json<Link[]>('GET', `${path}/links`),
    api.json<MirrorOfLink[]>('GET', `${path}/mirrors`),
    api.json<Drawing[]>('GET', `${path}/drawings`),
    api.json<ScheduleOfLink[]>('GET', `${path}/link_schedules`),
  ]);
  return {
    project,
    nodes,
    links,
    mirrors: new Map(mirrored.map(({ link_id, ...mirror }) => [link_id, mirror])),
    drawings,
    schedules: new Map(schedules.map(({ link_id, schedule }) => [link_id, schedule])),
    files: lab ? await readNamedFiles(api, path, nodes, lab) : new Map(),
  };
}

/** Reads the nodes' files that a lab sets. */
async function readNamedFiles(api: LabApi, path: string, nodes: readonly Node[], lab: Lab) {
  const kinds = await api.json<KindFacts[]>('GET', '/v2/kinds');
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const wanted = lab.nodes.flatMap(({ name, config, files }) => {
    const node = byName.get(name);
    const startupFile = kinds.find(({ node_type }) => node_type === node?.node_type)?.lab.startup_file;
    const paths = [...files.keys(), ...(config !== undefined && startupFile !== undefined ? [startupFile] : [])];
    return node ? paths.map((file) => ({ id: node.node_id, file })) : [];
  });
  return readFiles(api, path, wanted);
}

interface WantedFile {
  /** Id of the node. */
  readonly id: string;
  readonly file: string;
  /** Whether the file may be unreadable: a program in the node may have replaced it by a link to another place. */
  readonly isOptional?: boolean;
}

export async function readFiles(
  api: LabApi,
  projectPath: string,
  wanted: readonly WantedFile[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> {
  const texts: (string | undefined)[] = [];
  await bounded(wanted.entries(), async ([index, { id, file, isOptional = false }]) => {
    texts[index] = await api.text(filePath(projectPath, id, file)).catch((error: unknown) => {
      if (isOptional && (error as { status?: number }).status === 403) return undefined;
      throw error;
    });
  });
  // The result has the order of `wanted`, because an export shows it.
  const found = new Map<string, Map<string, string>>();
  for (const [index, { id, file }] of wanted.entries()) {
    const text = texts[index];
    if (text === undefined) continue;
    const files = found.get(id) ?? new Map<string, string>();
    found.set(id, files.set(file, text));
  }
  return found;
}

export function filePath(projectPath: string, nodeId: string, file: string): string {
  return `${projectPath}/nodes/${nodeId}/files/${file.split('/').map(encodeURIComponent).join('/')}`;
}

/** Runs `fn` for several items at a time. @throws the first error, when all have ended */
export async function bounded<T>(items: Iterable<T>, fn: (item: T) => Promise<unknown>): Promise<void> {
  const [error] = await forEachBounded(items, atOnce, fn);
  if (error !== undefined) throw error;
}
