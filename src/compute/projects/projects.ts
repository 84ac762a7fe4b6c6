/** All projects and nodes of the compute: finding them, making them, and bringing them back when the server starts. */
import { randomUUID } from 'node:crypto';
import { fault } from '../../api/faults.ts';
import type { Driver, NodeNumbers } from '../../emulators/driver.ts';
import { KeyedMutex } from '../../lib/mutex.ts';
import { removeTree } from '../../lib/remove-tree.ts';
import { isUuid } from '../../schema/common.ts';
import type { ConsoleType, NodeType } from '../../schema/node.ts';
import type { Context } from '../context.ts';
import { diskPercent } from '../host/host-figures.ts';
import { ComputeNode } from '../nodes/node.ts';
import type { LoadedNode, NodeRecord, ProjectRecord } from '../store.ts';
import { ComputeProject } from './project.ts';
import { makeFolder, placeFor, removeFolder } from './project-folder.ts';

interface ProjectInput {
  readonly project_id?: string | null;
  readonly name: string | null;
  readonly path?: string | null;
  readonly variables?: ProjectRecord['variables'];
  readonly replicate_link_state?: boolean;
  readonly number_from?: number;
  readonly incarnation?: number;
}

/** Body of a node's creation: the compute's own keys, and the kind's. */
export interface NodeInput {
  readonly name: string;
  /** A number: of an old project. */
  readonly node_id?: string | number;
  readonly console?: number | null;
  readonly console_type?: ConsoleType;
  readonly [property: string]: unknown;
}

interface NodeToMake {
  readonly project: ComputeProject;
  readonly driver: Driver;
  readonly nodeId: string;
  readonly input: NodeInput;
  readonly isInProcess: boolean;
}

/** Fill level of the disk from which on people are warned. */
const fullDiskPercent = 90;

export class ComputeProjects {
  readonly #context: Context;
  readonly #projects = new Map<string, ComputeProject>();
  readonly #nodes = new Map<string, { node: ComputeNode; project: ComputeProject }>();
  /** Locks per id: one creation or removal at a time. */
  readonly #locks = new KeyedMutex();

  constructor(context: Context) {
    this.#context = context;
  }

  list(): ComputeProject[] {
    return [...this.#projects.values()];
  }

  allNodes(): ComputeNode[] {
    return [...this.#nodes.values()].map(({ node }) => node);
  }

  /** @throws invalid_request, project_not_found */
  get(projectId: string): ComputeProject {
    const project = this.#projects.get(idOf(projectId, 'project_id'));
    if (!project) throw fault('project_not_found', { project_id: projectId });
    return project;
  }

  /** A node of this project and kind. @throws invalid_request, project_not_found, node_not_found */
  node(projectId: string, type: NodeType, nodeId: string): ComputeNode {
    const id = idOf(nodeId, 'node_id');
    const node = this.get(projectId).nodes.get(id);
    if (!node || node.driver.kind.type !== type) throw fault('node_not_found', { node_id: nodeId });
    return node;
  }

  /** @throws invalid_request, project_not_found, node_not_found */
  nodeOfAnyKind(projectId: string, nodeId: string): ComputeNode {
    const node = this.get(projectId).nodes.get(idOf(nodeId, 'node_id'));
    if (!node) throw fault('node_not_found', { node_id: nodeId });
    return node;
  }

  findNode(nodeId: string): ComputeNode | undefined {
    return this.#nodes.get(nodeId.toLowerCase())?.node;
  }

  /** A node of this kind in any project. */
  anyNode(type: NodeType, nodeId: string): ComputeNode {
    const found = this.#nodes.get(idOf(nodeId, 'node_id'));
    if (found?.node.driver.kind.type !== type) throw fault('node_not_found', { node_id: nodeId });
    return found.node;
  }

  /** A project that is known is returned as it is. One of an earlier incarnation, which was rewound, is removed first with its nodes. */
  async create(input: ProjectInput): Promise<ComputeProject> {
    const known = input.project_id ? this.#projects.get(idOf(input.project_id, 'project_id')) : undefined;
    if (known && (known.record.incarnation ?? 0) < (input.incarnation ?? 0)) await this.delete(known.id);
    return this.#create(input);
  }

  #create(input: ProjectInput): Promise<ComputeProject> {
    const projectId = input.project_id ?? randomUUID();
    const key = idOf(projectId, 'project_id');
    return this.#locks.run(key, async () => {
      const known = this.#projects.get(key);
      if (known) return known;
      const path = await placeFor(this.#context.settings, projectId, input.path);
      const owned = await makeFolder(path);
      const { name, variables = null, replicate_link_state = false, number_from, incarnation } = input;
      const numbers = { ...(number_from && { number_from }), ...(incarnation && { incarnation }) };
      const record = { project_id: projectId, name, path, variables, owned, replicate_link_state, ...numbers };
      await this.#context.store.setProject(record);
      const project = new ComputeProject(this.#context, record);
      this.#projects.set(key, project);
      await this.#warnOfFullDisk(project);
      return project;
    });
  }

  async close(projectId: string): Promise<void> {
    await this.#remove(projectId, (project) => project.close());
  }

  async delete(projectId: string): Promise<void> {
    await this.#remove(projectId, async (project) => {
      await project.close({ now: true });
      await removeFolder(project.record);
    });
  }

  /** `isInProcess`: the caller keeps the node, too, and makes it again after a crash. It is durable before it is started, not when this resolves. */
  createNode(
    project: ComputeProject,
    type: NodeType,
    input: NodeInput,
    { isInProcess }: { readonly isInProcess: boolean },
  ): Promise<ComputeNode> {
    const driver = this.#driver(type);
    const nodeId = typeof input.node_id === 'string' ? input.node_id : randomUUID();
    const key = idOf(nodeId, 'node_id');
    return project.whileThere(() =>
      this.#locks.run(key, async () => {
        const known = this.#nodes.get(key);
        const user = { kind: driver.kind, name: input.name, properties: own(input) };
        const make = () =>
          this.#context.imageClaims.during(user, () => this.#makeNode({ project, driver, nodeId, input, isInProcess }));
        if (!known) return driver.numbered ? this.#locks.run(`numbers of ${type}`, make) : make();
        if (known.project !== project || known.node.driver !== driver) throw fault('node_id_taken', { node_id: nodeId });
        await known.node.createdAgain(changeable(driver, input));
        return known.node;
      }),
    );
  }

  deleteNode(node: ComputeNode, how: { keepFiles: boolean }): Promise<void> {
    const key = node.id.toLowerCase();
    const gone = () => fault('node_not_found', { node_id: node.id });
    const project = this.#nodes.get(key)?.project;
    if (!project) return Promise.reject(gone());
    return project.whileThere(() =>
      this.#locks.run(key, async () => {
        if (this.#nodes.get(key)?.node !== node) throw gone();
        await node.delete(how);
        this.#nodes.delete(key);
        project.nodes.delete(key);
      }),
    );
  }

  /** Restores the projects and nodes of the store; none of them runs yet. */
  load(projects: readonly ProjectRecord[], nodes: readonly LoadedNode[]): Map<ComputeNode, LoadedNode> {
    const loaded = new Map<ComputeNode, LoadedNode>();
    for (const record of projects) this.#projects.set(record.project_id.toLowerCase(), new ComputeProject(this.#context, record));
    for (const entry of nodes) {
      const { record } = entry;
      const project = this.#projects.get(record.project_id.toLowerCase());
      const driver = this.#context.drivers.get(record.node_type);
      if (!project || !driver) {
        this.#context.log('warning', `node ${record.name} of type ${record.node_type} cannot be made here and is left out`);
        continue;
      }
      loaded.set(this.#add(project, new ComputeNode(this.#context, project, driver, entry)), entry);
    }
    return loaded;
  }

  async #warnOfFullDisk(project: ComputeProject): Promise<void> {
    const percent = await diskPercent(project.path).catch(() => 0);
    if (percent < fullDiskPercent) return;
    const message = `The file system of project ${project.name} is ${Math.trunc(percent)} % full: its nodes may fail to write`;
    this.#context.emit({ action: 'log.warning', event: { message }, project_id: project.id });
  }

  #driver(type: NodeType): Driver {
    const driver = this.#context.drivers.get(type);
    if (!driver) throw fault('node_type_unavailable', { node_type: type, reason: 'there is no driver for it' });
    return driver;
  }

  #add(project: ComputeProject, node: ComputeNode): ComputeNode {
    const key = node.id.toLowerCase();
    this.#nodes.set(key, { node, project });
    project.nodes.set(key, node);
    return node;
  }

  async #makeNode({ project, driver, nodeId, input, isInProcess }: NodeToMake): Promise<ComputeNode> {
    const { store, ports } = this.#context;
    const tell = (action: 'log.info' | 'log.warning') => (message: string) =>
      this.#context.emit({ action, event: { message }, project_id: project.id });
    const [inform, warn] = [tell('log.info'), tell('log.warning')];
    const taken: NodeNumbers['taken'] = (property, where) => {
      const nodes = where === 'project' ? [...project.nodes.values()] : this.allNodes();
      return new Set(nodes.filter((node) => node.driver === driver).map((node) => node.properties[property]));
    };
    const { id: projectId, path: projectDirectory } = project;
    const variables = project.record.variables ?? [];
    const place = { nodeId, projectId, projectDirectory, variables, name: input.name, inform, warn, taken };
    const properties = await driver.create(own(input), place);
    const console_type = input.console_type ?? driver.kind.defaults.console_type ?? 'none';
    const console = await ports
      .takeConsole(driver.kind.reservesConsole ? 'telnet' : console_type, input.console)
      .catch(async (error) => {
        await driver.removed?.(nodeId);
        throw error;
      });
    const identity = { project_id: project.id, node_id: nodeId, node_type: driver.kind.type, name: input.name };
    const record: NodeRecord = Object.freeze({ ...identity, console, console_type, properties: Object.freeze(properties) });
    const node = new ComputeNode(this.#context, project, driver, { record, commandLine: '' });
    try {
      const stored = node.storeNew();
      if (!isInProcess) await stored;
      await driver.populate?.(node.directory, own(input), input.name);
      await node.begin();
    } catch (error) {
      ports.releaseConsole(console);
      await store.deleteNode(nodeId, []).catch(() => undefined);
      await driver.removed?.(nodeId).catch(() => undefined);
      await removeTree(node.directory).catch(() => undefined);
      throw error;
    }
    return this.#add(project, node);
  }

  async #remove(projectId: string, how: (project: ComputeProject) => Promise<void>): Promise<void> {
    const key = idOf(projectId, 'project_id');
    await this.#locks.run(key, async () => {
      const project = this.get(projectId);
      const nodes = [...project.nodes.keys()];
      try {
        await how(project);
        this.#projects.delete(key);
      } finally {
        // A folder that cannot be removed leaves a project without nodes.
        for (const id of nodes) if (!project.nodes.has(id)) this.#nodes.delete(id);
      }
    });
  }
}

/** Returns the properties in a creation's body that belong to the node's kind. */
function own(input: NodeInput): Record<string, unknown> {
  const { name: _name, node_id: _id, console: _console, console_type: _type, ...properties } = input;
  return properties;
}

/** Returns the properties in a creation's body that can be changed on an existing node. */
function changeable(driver: Driver, input: NodeInput): Record<string, unknown> {
  const known = (driver.kind.update as { properties?: object }).properties ?? {};
  return Object.fromEntries(Object.entries(own(input)).filter(([key]) => Object.hasOwn(known, key)));
}

/** Ids are looked up whatever their case. */
function idOf(text: string, what: string): string {
  if (!isUuid(text)) throw fault('invalid_request', { reason: `${what} "${text}" is not a UUID` });
  return text.toLowerCase();
}
