/** What the page knows of the server beside the open project: projects, templates, computes, what its API can do. */
import { signal } from '@preact/signals';
import type { Compute } from '../../src/schema/compute.ts';
import type { KindFacts } from '../../src/schema/kind.ts';
import type { Project } from '../../src/schema/project.ts';
import type { Template } from '../../src/schema/template.ts';
import type { Api } from '../api.ts';
import { Keyed } from './keyed.ts';
import { Live, type Notice } from './live.ts';

export interface ProjectStats {
  readonly drawings: number;
  readonly links: number;
  readonly nodes: number;
  readonly snapshots: number;
}

const laterRoutes = {
  snapshots: 'POST /v2/projects/{project_id}/snapshots',
  export: 'GET /v2/projects/{project_id}/export',
  import: 'POST /v2/projects/{project_id}/import',
} as const;

export class ServerState {
  readonly projects = new Keyed<Project>((project) => project.project_id);
  readonly templates = new Keyed<Template>((template) => template.template_id);
  readonly computes = new Keyed<Compute>((compute) => compute.compute_id);
  readonly version = signal('');
  /** What each type of node can; empty where the server does not tell. */
  readonly kinds = signal<ReadonlyMap<string, KindFacts>>(new Map());
  /** `VERB /path/{name}` of every route, as far as the server describes itself. */
  readonly routes = signal<ReadonlySet<string>>(new Set());
  /** False until the lists were read once. */
  readonly known = signal(false);
  readonly live: Live;
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
    this.live = new Live({
      address: () => api.socket('/v2/notifications/ws'),
      read: () => this.#read(),
      heard: (notice) => this.#heard(notice),
    });
  }

  /** What the local compute can run. */
  get nodeTypes(): ReadonlySet<string> {
    return new Set(this.computes.all.value.flatMap((compute) => compute.capabilities.node_types));
  }

  /** Whether nodes of a type can do something: what the server does not tell is tried. */
  can(nodeType: string, what: keyof KindFacts['can']): boolean {
    return this.kinds.value.get(nodeType)?.can[what] ?? true;
  }

  has(route: string): boolean {
    return this.routes.value.has(route);
  }

  /** Whether the server does something that came later than its first version. */
  offers(what: keyof typeof laterRoutes): boolean {
    return this.has(laterRoutes[what]);
  }

  async #read(): Promise<void> {
    const [projects, templates, computes, version, kinds, routes] = await Promise.all([
      this.#api.get<Project[]>('/v2/projects'),
      this.#api.get<Template[]>('/v2/templates'),
      this.#api.get<Compute[]>('/v2/computes'),
      this.#api.get<{ version: string }>('/v2/version'),
      this.#api.get<KindFacts[]>('/v2/kinds').catch((): KindFacts[] => []),
      this.#readRoutes(),
    ]);
    this.projects.replaceAll(projects);
    this.templates.replaceAll(templates);
    this.computes.replaceAll(computes);
    this.version.value = version.version;
    this.kinds.value = new Map(kinds.map((kind) => [kind.node_type, kind]));
    this.routes.value = routes;
    this.known.value = true;
  }

  /** A server that does not describe itself has no routes beyond the established ones. */
  async #readRoutes(): Promise<ReadonlySet<string>> {
    const document = await this.#api.get<{ paths?: Record<string, object> }>('/openapi.json').catch(() => undefined);
    return new Set(
      Object.entries(document?.paths ?? {}).flatMap(([path, verbs]) =>
        Object.keys(verbs).map((verb) => `${verb.toUpperCase()} ${path}`),
      ),
    );
  }

  #heard({ action, event }: Notice): void {
    const [what, happened] = action.split('.');
    if (what === 'project') apply(this.projects, happened, event as Project, (project) => project.project_id);
    if (what === 'template') apply(this.templates, happened, event as Template, (template) => template.template_id);
    if (what === 'compute') apply(this.computes, happened, event as Compute, (compute) => compute.compute_id);
  }
}

function apply<T extends object>(list: Keyed<T>, happened: string | undefined, object: T, idOf: (object: T) => string): void {
  if (happened === 'deleted') list.remove(idOf(object));
  else list.put(object);
}
