/** The open project as the page shows it: what the server last said, and what this page is doing to it just now. */
import { batch, computed, type ReadonlySignal, signal } from '@preact/signals';
import type { Drawing } from '../../src/schema/drawing.ts';
import type { Link } from '../../src/schema/link.ts';
import type { Node } from '../../src/schema/node.ts';
import type { Project } from '../../src/schema/project.ts';
import { type Api, ApiError } from '../api.ts';
import { around, type Box, nodeBox } from '../geometry/geometry.ts';
import { Pictures } from '../geometry/picture.ts';
import { Keyed } from './keyed.ts';
import { Live, type Notice } from './live.ts';
import { Selection } from './selection.ts';
import { Traffic } from './traffic.ts';
import { Work } from './work.ts';

/** What this page decides at the moment of a node, a link or a drawing. */
export interface Held {
  readonly x?: number;
  readonly y?: number;
  readonly label?: Node['label'];
  readonly nodes?: Link['nodes'];
  readonly svg?: string;
  readonly rotation?: number;
}

export type ProjectPhase = 'loading' | 'opened' | 'closed' | 'missing';

/** Something that stands on the canvas at a place of its own. */
export type Item = { readonly kind: 'node'; readonly object: Node } | { readonly kind: 'drawing'; readonly object: Drawing };

export class ProjectState {
  readonly id: string;
  readonly path: string;
  readonly phase = signal<ProjectPhase>('loading');
  readonly project = signal<Project | undefined>(undefined);
  readonly nodes = new Keyed<Node>((node) => node.node_id);
  readonly links = new Keyed<Link>((link) => link.link_id);
  readonly drawings = new Keyed<Drawing>((drawing) => drawing.drawing_id);
  readonly selection: Selection;
  readonly work: Work;
  readonly traffic: Traffic;
  readonly pictures = new Pictures();
  readonly live: Live;
  /** Messages that the server sent to everyone who looks at the project, the last one. */
  readonly said = signal<{ readonly level: string; readonly message: string } | undefined>(undefined);
  /** Links by node. */
  readonly linksOf: ReadonlySignal<ReadonlyMap<string, readonly Link[]>> = computed(() => {
    const map = new Map<string, Link[]>();
    for (const link of this.links.all.value)
      for (const { node_id } of link.nodes) map.set(node_id, [...(map.get(node_id) ?? []), link]);
    return map;
  });
  readonly #api: Api;
  /** By id, while something is being dragged. */
  readonly #held = new Map<string, Held>();
  /** A project that was made just now may be shown before it is listed. */
  #isListed = false;

  constructor(api: Api, id: string) {
    this.#api = api;
    this.id = id;
    this.path = `/v2/projects/${id}`;
    this.selection = new Selection(this);
    this.work = new Work();
    const isRunning = () => this.nodes.all.value.some(({ status }) => status === 'started');
    this.traffic = new Traffic({ api, path: this.path, isRunning });
    this.live = new Live({
      address: (since) => api.socket(`${this.path}/notifications/ws${since === undefined ? '' : `?since=${since}`}`),
      resumes: true,
      read: () => this.read(),
      heard: (notice) => this.#heard(notice),
    });
  }

  close(): void {
    this.live.close();
  }

  /** Opens the project on the server, then reads everything. */
  async open(): Promise<void> {
    await this.#api.post(`${this.path}/open`);
    await this.read();
  }

  async read(): Promise<void> {
    const get = <T>(what: string) => this.#api.get<T>(`${this.path}${what}`);
    try {
      let project = await get<Project>('');
      // Whoever looks at a project wants it open; one that is closed meanwhile stays so until it is asked for.
      if (project.status === 'closed' && this.phase.peek() === 'loading')
        project = await this.#api.post<Project>(`${this.path}/open`);
      if (project.status === 'closed') return this.#close(project);
      const [nodes, links, drawings] = await Promise.all([
        get<Node[]>('/nodes'),
        get<Link[]>('/links'),
        get<Drawing[]>('/drawings'),
      ]);
      batch(() => {
        this.project.value = project;
        this.nodes.replaceAll(nodes.map((node) => this.#asHeld(node.node_id, node)));
        this.links.replaceAll(links.map((link) => this.#asHeld(link.link_id, link)));
        this.drawings.replaceAll(drawings.map((drawing) => this.#asHeld(drawing.drawing_id, drawing)));
        this.phase.value = 'opened';
        this.selection.forgetMissing();
      });
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) this.phase.value = 'missing';
      throw error;
    }
  }

  /** What the list of projects says of this one: only there the server tells that it was closed, opened or deleted. */
  listed(project: Project | undefined): void {
    const phase = this.phase.peek();
    if (project) {
      this.#isListed = true;
      if (project.status === 'closed' && phase === 'opened') this.#close(project);
      else if (project.status === 'opened' && phase === 'closed') this.live.readAgain();
    } else if (this.#isListed) this.phase.value = 'missing';
  }

  findItem(id: string): Item | undefined {
    const node = this.nodes.peek(id);
    if (node) return { kind: 'node', object: node };
    const drawing = this.drawings.peek(id);
    return drawing && { kind: 'drawing', object: drawing };
  }

  /** Room that an item takes on the canvas. */
  boxOf(item: Item): Box {
    if (item.kind === 'node') return nodeBox(item.object);
    const { width, height } = this.pictures.of(item.object.svg);
    return { x: item.object.x, y: item.object.y, width, height };
  }

  /** Everything that stands on the canvas. */
  items(): Item[] {
    return [
      ...this.nodes.all.peek().map((object): Item => ({ kind: 'node', object })),
      ...this.drawings.all.peek().map((object): Item => ({ kind: 'drawing', object })),
    ];
  }

  /** The part of the scene in which something stands. */
  extent(): Box | undefined {
    return around(this.items().map((item) => this.boxOf(item)));
  }

  /** Shows something otherwise without telling the server; it stays so, whatever the server says, until `release`. */
  hold(id: string, change: Held): void {
    this.#held.set(id, change);
    if (this.nodes.peek(id)) this.nodes.patch(id, change as Partial<Node>);
    else if (this.links.peek(id)) this.links.patch(id, change as Partial<Link>);
    else this.drawings.patch(id, change as Partial<Drawing>);
  }

  /** `only`: unless something else is held meanwhile. */
  release(id: string, only?: Held): void {
    if (only === undefined || this.#held.get(id) === only) this.#held.delete(id);
  }

  #asHeld<T extends object>(id: string, object: T): T {
    const held = this.#held.get(id);
    return held ? { ...object, ...held } : object;
  }

  #close(project: Project): void {
    this.live.forget();
    batch(() => {
      this.project.value = project;
      this.phase.value = 'closed';
      this.nodes.replaceAll([]);
      this.links.replaceAll([]);
      this.drawings.replaceAll([]);
      this.selection.clear();
    });
  }

  #heard({ action, event }: Notice): void {
    const [what, happened = ''] = action.split('.');
    if (what === 'node') this.#heardNode(happened, event as Node);
    else if (what === 'link') this.#heardLink(happened, event as Link);
    else if (what === 'drawing') this.#heardDrawing(happened, event as Drawing);
    else if (action === 'project.updated') this.project.value = event as Project;
    else if (action === 'snapshot.restored') this.live.readAgain();
    else if (what === 'log') this.said.value = { level: happened, message: (event as { message: string }).message };
  }

  #heardNode(happened: string, node: Node): void {
    if (happened === 'deleted') this.#remove(this.nodes, node.node_id);
    else this.nodes.put(this.#asHeld(node.node_id, node));
  }

  #heardLink(happened: string, link: Link): void {
    if (happened === 'deleted') {
      this.#remove(this.links, link.link_id);
      this.traffic.remove(link.link_id);
    } else this.links.put(this.#asHeld(link.link_id, link));
  }

  /** A drawing that was only moved comes without its picture. */
  #heardDrawing(happened: string, drawing: Drawing): void {
    const id = drawing.drawing_id;
    if (happened === 'deleted') this.#remove(this.drawings, id);
    else if (drawing.svg !== undefined) this.drawings.put(this.#asHeld(id, drawing));
    else this.drawings.patch(id, this.#asHeld(id, drawing));
  }

  #remove<T extends object>(list: Keyed<T>, id: string): void {
    batch(() => {
      list.remove(id);
      this.selection.remove(id);
      this.#held.delete(id);
    });
  }
}
