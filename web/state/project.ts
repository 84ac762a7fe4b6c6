/** The open project: the server's last state, and this page's own operations. */
import { batch, computed, effect, type ReadonlySignal, signal, untracked } from '@preact/signals';
import type { Drawing } from '../../src/schema/drawing.ts';
import type { Link, LinkEnd } from '../../src/schema/link.ts';
import type { Node } from '../../src/schema/node.ts';
import type { Problem } from '../../src/schema/problem.ts';
import type { Project } from '../../src/schema/project.ts';
import { type Api, ApiError } from '../api.ts';
import { around, type Box, nodeBox } from '../geometry/geometry.ts';
import { Pictures } from '../geometry/picture.ts';
import { Batches } from './batches.ts';
import { Drafts } from './drafts.ts';
import { DrawnPlaces } from './drawn-places.ts';
import { Groups } from './groups.ts';
import { Keyed } from './keyed.ts';
import { Live, type Notice } from './live.ts';
import { Moves } from './moves.ts';
import { Overrides } from './overrides.ts';
import { Presence } from './presence.ts';
import { putItems } from './put-items.ts';
import { Selection } from './selection.ts';
import { Series } from './series.ts';
import { Traffic } from './traffic.ts';
import { Work } from './work.ts';

/** Local state of a node, a link or a drawing that overrides the server's. */
export interface LocalState {
  readonly x?: number;
  readonly y?: number;
  readonly label?: Node['label'];
  readonly nodes?: Link['nodes'];
  readonly svg?: string;
  readonly rotation?: number;
}

/** Event of `failure.reported`: of a node, or of a link with the ends that were tried. */
interface ReportedFailure {
  readonly node_id?: string;
  readonly link_id?: string;
  readonly nodes?: readonly LinkEnd[];
  readonly message: string;
  readonly code: string;
}

export type ProjectPhase = 'loading' | 'opened' | 'closed' | 'missing';

/** An item with its own position on the canvas. */
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
  readonly moves: Moves;
  /** Undo and redo: the next one reads the preview after the one before. */
  readonly steps = new Series();
  readonly pictures = new Pictures();
  readonly groups: Groups;
  readonly live: Live;
  /** Other users who have the project open. */
  readonly presence: Presence;
  /** Counts reports that the memory of a snapshot was saved, or could not be. */
  readonly snapshotChanges = signal(0);
  /** The latest message of the server to all users of the project. */
  readonly message = signal<{ readonly level: string; readonly message: string } | undefined>(undefined);
  /** Links by node. */
  readonly linksOf: ReadonlySignal<ReadonlyMap<string, readonly Link[]>> = computed(() => {
    const map = new Map<string, Link[]>();
    for (const link of this.links.all.value)
      for (const { node_id } of link.nodes) {
        const links = map.get(node_id);
        if (links) links.push(link);
        else map.set(node_id, [link]);
      }
    return map;
  });
  readonly drawn = new DrawnPlaces(
    () => this.links.all.value,
    () => this.groups.hidden.value,
  );
  /** Notes (`notes`), and texts of configuration files by node and path, that are not saved. */
  readonly drafts: Drafts;
  readonly #api: Api;
  readonly #notices = new Batches<Notice>({
    apply: (notice) => this.#onNotice(notice),
    together: batch,
    failed: reportError,
  });
  readonly #overrides = new Overrides<LocalState>();
  /** A new project may be shown before the list contains it. */
  #isListed = false;
  readonly #stopReading: () => void;
  /** Connections that were attempted. */
  #attempts = 0;

  constructor(api: Api, id: string, ownName: ReadonlySignal<string>) {
    this.#api = api;
    this.id = id;
    this.path = `/v2/projects/${id}`;
    this.drafts = new Drafts(id);
    this.selection = new Selection(this);
    this.work = new Work();
    this.groups = new Groups(this);
    const isRunning = () => this.nodes.all.value.some(({ status }) => status === 'started');
    this.traffic = new Traffic({ api, path: this.path, isRunning });
    this.moves = new Moves({
      hold: (id, place) => this.hold(id, place),
      release: (id) => this.release(id),
      send: (places) => putItems(api, this, places),
    });
    this.live = new Live({
      address: async (since) => {
        await this.#checkExistence();
        return api.socket(`${this.path}/notifications/ws?presence=true${since === undefined ? '' : `&since=${since}`}`);
      },
      resumes: true,
      read: () => this.read(),
      onNotice: (notice) => this.#notices.push(notice),
    });
    this.#stopReading = effect(() => {
      if (this.live.connection.value === 'live' && this.phase.peek() === 'opened') untracked(() => void this.#readFailures());
    });
    this.presence = new Presence({ selected: this.selection.ids, name: ownName, send: (state) => this.live.send(state) });
  }

  close(): void {
    this.#stopReading();
    this.drawn.show(undefined);
    this.presence.close();
    this.live.close();
  }

  /** Opens the project on the server, then reads everything. */
  async open(): Promise<void> {
    await this.#api.post(`${this.path}/open`);
    await this.read();
  }

  async read(): Promise<void> {
    // Waiting notices are older than the state that is read now.
    this.#notices.flush();
    const get = <T>(what: string) => this.#api.get<T>(`${this.path}${what}`);
    try {
      let project = await get<Project>('');
      // Showing a project opens it; a project closed meanwhile stays closed until the user opens it.
      if (project.status === 'closed' && this.phase.peek() === 'loading') project = (await this.#openIfAllowed()) ?? project;
      if (project.status === 'closed') return this.#close(project);
      const [nodes, links, drawings] = await Promise.all([
        get<Node[]>('/nodes'),
        get<Link[]>('/links'),
        get<Drawing[]>('/drawings'),
      ]);
      batch(() => {
        this.project.value = project;
        this.nodes.replaceAll(nodes.map((node) => this.#overrides.applied(node.node_id, node)));
        this.links.replaceAll(links.map((link) => this.#overrides.applied(link.link_id, link)));
        this.drawings.replaceAll(drawings.map((drawing) => this.#overrides.applied(drawing.drawing_id, drawing)));
        this.phase.value = 'opened';
        this.selection.forgetMissing();
      });
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) this.#missing(error);
      throw error;
    }
  }

  /** Opens the project; undefined for an account that may only see it. */
  async #openIfAllowed(): Promise<Project | undefined> {
    try {
      return await this.#api.post<Project>(`${this.path}/open`);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 403) throw error;
      this.message.value = { level: 'error', message: error.message };
      return undefined;
    }
  }

  /** Finds out why nothing could be read: a WebSocket does not say why it is refused. */
  async #checkExistence(): Promise<void> {
    this.#attempts += 1;
    if (this.#attempts === 1 || this.phase.peek() !== 'loading') return;
    await this.#api.get(this.path).catch((error: unknown) => {
      if (error instanceof ApiError && error.status === 404) this.#missing(error);
      throw error;
    });
  }

  #missing({ message }: ApiError): void {
    this.phase.value = 'missing';
    this.message.value = { level: 'error', message };
  }

  /** Links that are not usable now: failures are sent once, and perhaps while this page had no connection. */
  async #readFailures(): Promise<void> {
    const problems = await this.#api.get<Problem[]>(`${this.path}/problems`).catch(() => undefined);
    if (!problems) return;
    const failed = new Map(problems.flatMap(({ kind, id, message }) => (kind === 'link' ? [[id, message] as const] : [])));
    for (const id of this.work.ends.peek().keys()) if (this.links.peek(id) && !failed.has(id)) this.work.dismiss(id);
    for (const [id, message] of failed) this.work.report(id, { message, code: '', nodes: this.links.peek(id)?.nodes ?? [] });
  }

  /** The list's entry of this project: only the server's feed reports that it was closed, opened or deleted. */
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

  /** The box of an item on the canvas. */
  boxOf(item: Item): Box {
    if (item.kind === 'node') return nodeBox(item.object);
    const { width, height } = this.pictures.of(item.object.svg);
    return { x: item.object.x, y: item.object.y, width, height };
  }

  /** All items of the canvas but those in collapsed groups. */
  items(): Item[] {
    const hidden = this.groups.hidden.peek();
    const nodes = this.nodes.all.peek().map((object): Item => ({ kind: 'node', object }));
    const drawings = this.drawings.all.peek().map((object): Item => ({ kind: 'drawing', object }));
    return [...nodes, ...drawings].filter(({ kind, object }) => !hidden.has(kind === 'node' ? object.node_id : object.drawing_id));
  }

  /** The bounding box of all items. */
  extent(): Box | undefined {
    return around(this.items().map((item) => this.boxOf(item)));
  }

  /** Overrides an item locally, whatever the server sends, until `release`. */
  hold(id: string, change: LocalState): void {
    this.#overrides.hold(id, change);
    this.#patch(id, change);
  }

  /** `only`: unless another override replaced it. */
  release(id: string, only?: LocalState): void {
    const later = this.#overrides.release(id, only);
    if (later) this.#patch(id, later);
  }

  #patch(id: string, change: object): void {
    if (this.nodes.peek(id)) this.nodes.patch(id, change as Partial<Node>);
    else if (this.links.peek(id)) this.links.patch(id, change as Partial<Link>);
    else this.drawings.patch(id, change as Partial<Drawing>);
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

  #onNotice({ action, event }: Notice): void {
    const [what, happened = ''] = action.split('.');
    if (what === 'node') this.#onNodeNotice(happened, event as Node);
    else if (what === 'link') this.#onLinkNotice(happened, event as Link);
    else if (what === 'drawing') this.#onDrawingNotice(happened, event as Drawing);
    else if (action === 'project.updated') this.project.value = event as Project;
    else if (action === 'snapshot.restored') this.live.readAgain();
    else if (action === 'snapshot.updated' || action === 'checkpoints.updated') this.snapshotChanges.value += 1;
    else if (what === 'presence') this.presence.receive(action, event);
    else if (action === 'failure.reported') {
      const failure = event as ReportedFailure;
      this.work.report(failure.node_id ?? failure.link_id ?? '', failure);
    } else if (action === 'failure.ended') this.work.dismiss((event as { readonly link_id: string }).link_id);
    else if (what === 'log') this.message.value = { level: happened, message: (event as { message: string }).message };
  }

  #onNodeNotice(happened: string, node: Node): void {
    // The node runs by now, so its failure is over.
    if (node.status === 'started' && this.nodes.peek(node.node_id)?.status === 'stopped') this.work.dismiss(node.node_id);
    if (happened === 'deleted') this.#remove(this.nodes, node.node_id);
    else this.nodes.put(this.#overrides.applied(node.node_id, node));
  }

  #onLinkNotice(happened: string, link: Link): void {
    if (happened === 'deleted') {
      this.#remove(this.links, link.link_id);
      this.traffic.remove(link.link_id);
      this.work.dismiss(link.link_id);
      return;
    }
    if (happened === 'created') this.work.linked(link.link_id, link.nodes);
    this.links.put(this.#overrides.applied(link.link_id, link));
  }

  /** The notification of a moved drawing omits its picture. */
  #onDrawingNotice(happened: string, drawing: Drawing): void {
    const id = drawing.drawing_id;
    if (happened === 'deleted') this.#remove(this.drawings, id);
    else if (drawing.svg !== undefined) this.drawings.put(this.#overrides.applied(id, drawing));
    else this.drawings.patch(id, this.#overrides.applied(id, drawing));
  }

  #remove<T extends object>(list: Keyed<T>, id: string): void {
    batch(() => {
      list.remove(id);
      this.selection.remove(id);
      this.#overrides.forget(id);
    });
  }
}
