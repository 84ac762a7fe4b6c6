/** The server's state outside of the open project: projects, templates, computes, abilities of its API. */

import { signal } from '@preact/signals';
import type { ComputeObject } from '../../src/schema/compute.ts';
import type { KindFacts } from '../../src/schema/kind.ts';
import type { Node, NodeType } from '../../src/schema/node.ts';
import type { Project } from '../../src/schema/project.ts';
import type { Template } from '../../src/schema/template.ts';
import type { Api } from '../api.ts';
import { Keyed } from './keyed.ts';
import { Live, type Notice } from './live.ts';
import { Rights } from './rights.ts';

export interface ProjectStats {
  readonly drawings: number;
  readonly links: number;
  readonly nodes: number;
  readonly snapshots: number;
}

/** GNS3 gives it to every node that is made without a template and without a symbol. */
const unchosenSymbol = ':/symbols/computer.svg';

export class ServerState {
  readonly projects = new Keyed<Project>((project) => project.project_id);
  readonly templates = new Keyed<Template>((template) => template.template_id);
  readonly computes = new Keyed<ComputeObject>((compute) => compute.compute_id);
  readonly version = signal('');
  /** Abilities of each node type; empty if the server does not report them. */
  readonly kinds = signal<ReadonlyMap<string, KindFacts>>(new Map());
  /** Version of Patchbay; empty until it is known. */
  readonly programVersion = signal('');
  /** False until the lists were loaded once. */
  readonly known = signal(false);
  readonly live: Live;
  readonly rights: Rights;
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
    this.rights = new Rights(api);
    this.live = new Live({
      address: () => api.socket('/v2/notifications/ws?access=true'),
      read: () => this.#read(),
      onNotice: (notice) => this.#onNotice(notice),
    });
  }

  /** Node types of the local compute. */
  get nodeTypes(): ReadonlySet<string> {
    return new Set(this.computes.all.value.flatMap((compute) => compute.capabilities.node_types));
  }

  /** The type that forms offer first: one that runs here and is made of images, of disks rather than others. Undefined while no type is known. */
  get mainType(): NodeType | undefined {
    const all = [...this.kinds.value.values()];
    const ofImages = all.filter(({ emulator, images }) => emulator && images);
    return (ofImages.find(({ can }) => can.resize_disk) ?? ofImages[0] ?? all[0])?.node_type;
  }

  /** Whether nodes of a type support a command; yes if the server does not report it. */
  can(nodeType: string, what: keyof KindFacts['can']): boolean {
    return this.kinds.value.get(nodeType)?.can[what] ?? true;
  }

  /** Whether nodes of a type do not run here, but can become machines of QEMU. */
  canConvert(nodeType: string): boolean {
    return this.kinds.value.get(nodeType)?.can.convert === true;
  }

  /** Whether the memory of nodes of a type can be saved. */
  canSaveMemory(nodeType: string): boolean {
    return this.kinds.value.get(nodeType)?.can.save_memory === true;
  }

  async #read(): Promise<void> {
    const [projects, templates, computes, version, kinds, program] = await Promise.all([
      this.#api.get<Project[]>('/v2/projects'),
      this.#api.get<Template[]>('/v2/templates'),
      this.#api.get<ComputeObject[]>('/v2/computes'),
      this.#api.get<{ version: string }>('/v2/version'),
      this.#api.get<KindFacts[]>('/v2/kinds').catch((): KindFacts[] => []),
      this.#api.program(),
    ]);
    await this.rights.read(program.signedIn);
    this.projects.replaceAll(projects);
    this.templates.replaceAll(templates);
    this.computes.replaceAll(computes);
    this.version.value = version.version;
    this.kinds.value = new Map(kinds.map((kind) => [kind.node_type, kind]));
    this.programVersion.value = program.version;
    this.known.value = true;
  }

  /** Reads what the account may see and do. */
  async #readAccess(): Promise<void> {
    const [projects] = await Promise.all([this.#api.get<Project[]>('/v2/projects'), this.rights.read()]);
    this.projects.replaceAll(projects);
    this.rights.changes.value += 1;
  }

  #onNotice({ action, event }: Notice): void {
    const [what, happened] = action.split('.');
    if (action === 'access.updated') this.live.readAgain(() => this.#readAccess());
    if (what === 'project' && isProjectChange(happened))
      apply(this.projects, happened, event as Project, (project) => project.project_id);
    if (what === 'template') apply(this.templates, happened, event as Template, (template) => template.template_id);
    if (what === 'compute') apply(this.computes, happened, event as ComputeObject, (compute) => compute.compute_id);
  }

  /** The symbol by which the page shows a node: that of its kind, when no other was chosen. */
  symbolOf({ symbol, template_id, node_type }: Pick<Node, 'symbol' | 'template_id' | 'node_type'>): string {
    const isChosen = symbol !== unchosenSymbol || typeof template_id === 'string';
    return isChosen ? symbol : (this.kinds.value.get(node_type)?.symbol ?? symbol);
  }
}

/** Other notifications about projects carry no project object. */
function isProjectChange(happened: string | undefined): boolean {
  return ['created', 'updated', 'opened', 'closed', 'deleted'].includes(happened ?? '');
}

function apply<T extends object>(list: Keyed<T>, happened: string | undefined, object: T, idOf: (object: T) => string): void {
  if (happened === 'deleted') list.remove(idOf(object));
  else list.put(object);
}
