/** Makes the request of a step from what a client sees, and says what it changes. */
import type { Link } from '../../../src/schema/link.ts';
import type { Chance } from '../../durability/random.ts';
import { idleVm } from '../../support/with-server.ts';
import type { Change, Facts } from './facts.ts';
import type { Verb } from './program.ts';
import { endsOf, isRunnable, keysOf, place, type SeenNode, type Sight } from './sight.ts';

export interface Request {
  /** Method and path. */
  readonly line: string;
  readonly body?: unknown;
  readonly raw?: Uint8Array;
  readonly project?: string;
  /** Values that the request changes; undefined: anything in the project. */
  readonly change?: Change;
  /** Values that the change may leave when the server is killed meanwhile. */
  readonly perhaps?: Change;
  /** The request makes or removes whole projects, which are read when they are needed. */
  readonly isAboutProjects?: boolean;
}

export interface Situation {
  readonly chance: Chance;
  readonly facts: Facts;
  readonly sight: Sight;
  readonly computes: readonly string[];
  /** A UUID that no other step of the program has. */
  freshId(): string;
  /** Exports a project. */
  archiveOf(project: string): Promise<Uint8Array | undefined>;
}

const kinds = [
  ...Array<string>(8).fill('vpcs'),
  ...['ethernet_switch', 'ethernet_switch', 'ethernet_hub', 'cloud', 'frame_relay_switch', 'atm_switch', 'qemu'],
];
const filters: readonly object[] = [
  { latency: [5] },
  { delay: [10, 5] },
  { packet_loss: [20] },
  { corrupt: [1], frequency_drop: [7] },
  { bpf: ['icmp'] },
  {},
];

type Builder = (situation: Situation) => Request | undefined | Promise<Request | undefined>;

const at = ({ sight }: Situation) => `/v2/projects/${sight.project.project_id}`;
const idOf = ({ sight }: Situation) => sight.project.project_id;
const coordinate = (chance: Chance) => chance.between(-500, 500);

/** Anything of the project may be another afterwards. */
const anything =
  (way: (situation: Situation) => string | undefined, body?: (situation: Situation) => unknown): Builder =>
  (situation) => {
    const line = way(situation);
    if (line === undefined) return undefined;
    const [method, path = ''] = line.split(' ');
    return { line: `${method} ${at(situation)}${path}`, body: body ? body(situation) : {}, project: idOf(situation) };
  };
const aboutProjects =
  (way: (situation: Situation) => string | undefined, body?: (situation: Situation) => unknown): Builder =>
  async (situation) => {
    const request = await anything(way, body)(situation);
    return request && { line: request.line, body: request.body, isAboutProjects: true };
  };
const node =
  (build: (node: SeenNode, situation: Situation) => Omit<Request, 'project'> | undefined, fits = (_: SeenNode) => true): Builder =>
  (situation) => {
    const chosen = situation.chance.pick(situation.sight.nodes.filter(fits));
    const request = chosen && build(chosen, situation);
    return request && { ...request, project: idOf(situation) };
  };
const nameOf = (situation: Situation, letter: string) => `${letter}${situation.freshId().replaceAll('-', '').slice(-10)}`;

function newNode(situation: Situation): { body: object; change: Change } {
  const { chance, computes } = situation;
  const node_id = situation.freshId();
  const node_type = chance.pick(kinds) ?? 'vpcs';
  const [x, y] = [coordinate(chance), coordinate(chance)];
  const name = `N${node_id.slice(-8)}`;
  const compute_id = (chance.next() < 0.75 ? 'local' : chance.pick(computes)) ?? 'local';
  const key = keysOf.node(idOf(situation), node_id);
  const properties = node_type === 'qemu' ? { properties: idleVm } : {};
  return {
    body: { node_id, name, node_type, compute_id, x, y, ...properties },
    change: {
      ...{ [`${key}at`]: place(x, y), [`${key}name`]: name, [`${key}compute`]: compute_id },
      ...(isRunnable({ node_type }) && { [`${key}status`]: 'stopped' }),
    },
  };
}

function freeEnd({ chance, sight }: Situation, except?: string) {
  const taken = new Set(sight.links.flatMap(({ nodes }) => endsOf(nodes).split('+')));
  const free = sight.nodes.flatMap(({ node_id, ports }) =>
    node_id === except
      ? []
      : ports
          .filter(({ link_type }) => link_type === 'ethernet')
          .map(({ adapter_number, port_number }) => ({ node_id, adapter_number, port_number }))
          .filter((end) => !taken.has(endsOf([end])))
          .slice(0, 2),
  );
  return chance.pick(free);
}

/** A deletion takes links along, also those that are being made. */
function goneWith({ facts, sight }: Situation, ids: readonly string[]): Change {
  const id = sight.project.project_id;
  const links = facts.keys(`${id}/links/`).filter((key) => ids.some((each) => key.includes(each)));
  const nodes = ids.flatMap((each) => facts.keys(keysOf.node(id, each)));
  return Object.fromEntries([...links, ...nodes].map((key) => [key, '']));
}

const gone = ({ facts }: Situation, prefix: string) => Object.fromEntries(facts.keys(prefix).map((key) => [key, '']));

export const requests: Readonly<Record<Verb, Builder>> = {
  make_project: (situation) => {
    const project_id = situation.freshId();
    return {
      line: 'POST /v2/projects',
      body: { project_id, name: `P${project_id.slice(-8)}`, auto_close: false },
      isAboutProjects: true,
    };
  },
  set_project: (situation) => {
    const zoom = situation.chance.between(10, 500);
    const key = `${keysOf.project(idOf(situation))}/zoom`;
    return { line: `PUT ${at(situation)}`, body: { zoom }, project: idOf(situation), change: { [key]: String(zoom) } };
  },
  close: anything(() => 'POST /close'),
  open: anything(() => 'POST /open'),
  delete_project: aboutProjects(() => 'DELETE '),
  duplicate: aboutProjects(
    () => 'POST /duplicate',
    (situation) => ({ name: nameOf(situation, 'D'), project_id: situation.freshId() }),
  ),
  import: async (situation) => {
    const raw = await situation.archiveOf(idOf(situation));
    const line = `POST /v2/projects/${situation.freshId()}/import?name=${nameOf(situation, 'I')}`;
    return raw && { line, raw, isAboutProjects: true };
  },
  fork: anything(
    () => 'POST /fork',
    (situation) => ({ name: nameOf(situation, 'F') }),
  ),
  add_node: (situation) => {
    const { body, change } = newNode(situation);
    return { line: `POST ${at(situation)}/nodes`, body, change, project: idOf(situation) };
  },
  move: node(({ node_id }, situation) => {
    const [x, y] = [coordinate(situation.chance), coordinate(situation.chance)];
    const change = { [`${keysOf.node(idOf(situation), node_id)}at`]: place(x, y) };
    return { line: `PUT ${at(situation)}/nodes/${node_id}`, body: { x, y }, change };
  }),
  rename: node(({ node_id }, situation) => {
    const name = nameOf(situation, 'R');
    const change = { [`${keysOf.node(idOf(situation), node_id)}name`]: name };
    return { line: `PUT ${at(situation)}/nodes/${node_id}`, body: { name }, change };
  }),
  copy_node: node(({ node_id }, situation) => ({
    line: `POST ${at(situation)}/nodes/${node_id}/duplicate`,
    body: { x: coordinate(situation.chance), y: 0 },
  })),
  delete_node: node(({ node_id }, situation) => ({
    line: `DELETE ${at(situation)}/nodes/${node_id}`,
    change: goneWith(situation, [node_id]),
    // The node is stopped first.
    perhaps: { [`${keysOf.node(idOf(situation), node_id)}status`]: 'stopped' },
  })),
  migrate: node(({ node_id }, situation) => {
    const compute_id = situation.chance.pick(situation.computes) ?? 'local';
    return { line: `POST ${at(situation)}/nodes/${node_id}/migrate`, body: { compute_id } };
  }),
  bulk: anything(
    () => 'POST /bulk',
    (situation) => {
      const nodes = Array.from({ length: situation.chance.between(1, 4) }, () => newNode(situation).body);
      return { nodes, drawings: [{ svg: '<svg/>' }] };
    },
  ),
  delete_many: anything(
    () => 'POST /bulk/delete',
    ({ chance, sight: { nodes, links, drawings } }) => {
      const some = (ids: readonly string[]) => ids.filter(() => chance.next() < 0.4);
      return {
        nodes: some(nodes.map(({ node_id }) => node_id)),
        links: some(links.map(({ link_id }) => link_id)),
        drawings: some(drawings.map(({ drawing_id }) => drawing_id)),
      };
    },
  ),
  lock: node(({ node_id }, situation) => ({
    line: `PUT ${at(situation)}/nodes/${node_id}`,
    body: { locked: situation.chance.next() < 0.6 },
    change: {},
  })),
  apply: (situation) => {
    const { project } = situation.sight;
    const kinds = situation.sight.nodes
      .filter(({ node_type }) => node_type === 'vpcs')
      .map(({ name }) => `  ${name}: { kind: vpcs }\n`);
    const kept = kinds.filter(() => situation.chance.next() < 0.7).join('');
    const lab = `name: ${project.name}\nnodes:\n${kept}  ${nameOf(situation, 'A')}: { kind: vpcs }\n`;
    return { line: 'POST /v2/labs/apply', body: { lab, project: project.project_id }, project: project.project_id };
  },
  start: run('start', 'started'),
  stop: run('stop', 'stopped'),
  reload: node(({ node_id }, situation) => ({ line: `POST ${at(situation)}/nodes/${node_id}/reload`, body: {} }), isRunnable),
  suspend: node(({ node_id }, situation) => ({ line: `POST ${at(situation)}/nodes/${node_id}/suspend`, body: {} }), isRunnable),
  start_all: anything(() => 'POST /nodes/start'),
  stop_all: anything(() => 'POST /nodes/stop'),
  link: (situation) => {
    const one = freeEnd(situation);
    const other = one && freeEnd(situation, one.node_id);
    if (!one || !other) return undefined;
    const filter = situation.chance.pick(filters) ?? {};
    const key = keysOf.link(idOf(situation), [one, other]);
    const change = { [`${key}filters`]: JSON.stringify(filter), [`${key}suspend`]: 'false', [`${key}capturing`]: 'false' };
    const body = { nodes: [one, other], filters: filter };
    return { line: `POST ${at(situation)}/links`, body, change, project: idOf(situation) };
  },
  unlink: link(({ link_id, nodes }, situation) => ({
    line: `DELETE ${at(situation)}/links/${link_id}`,
    change: gone(situation, keysOf.link(idOf(situation), nodes)),
  })),
  impair: link(({ link_id, nodes }, situation) => {
    const { chance } = situation;
    const key = keysOf.link(idOf(situation), nodes);
    const filter = chance.pick(filters) ?? {};
    const suspend = chance.next() < 0.3;
    const change = { [`${key}filters`]: JSON.stringify(filter), [`${key}suspend`]: String(suspend) };
    return { line: `PUT ${at(situation)}/links/${link_id}`, body: { filters: filter, suspend }, change };
  }),
  schedule: link(({ link_id }, situation) => ({
    line: `${situation.chance.next() < 0.7 ? 'PUT' : 'DELETE'} ${at(situation)}/links/${link_id}/schedule`,
    body: {
      steps: [
        { at: 0, filters: { delay: [4] } },
        { at: 300, filters: {} },
      ],
      duration: 600,
      repeat: 0,
    },
  })),
  rewire: link(({ link_id, nodes: [kept] }, situation) => {
    const to = kept && freeEnd(situation, kept.node_id);
    const { node_id, adapter_number, port_number } = kept ?? {};
    const nodes = [{ node_id, adapter_number, port_number }, to];
    return to && { line: `PUT ${at(situation)}/links/${link_id}/ends`, body: { nodes } };
  }),
  mirror: link(({ link_id }, situation) => {
    const to = freeEnd(situation);
    return to && { line: `PUT ${at(situation)}/links/${link_id}/mirror`, body: to };
  }),
  capture: link(({ link_id, nodes }, situation) => ({
    line: `POST ${at(situation)}/links/${link_id}/start_capture`,
    body: { capture_file_name: `${nameOf(situation, 'c')}.pcap` },
    change: { [`${keysOf.link(idOf(situation), nodes)}capturing`]: 'true' },
  })),
  stop_capture: link(({ link_id, nodes }, situation) => ({
    line: `POST ${at(situation)}/links/${link_id}/stop_capture`,
    body: {},
    change: { [`${keysOf.link(idOf(situation), nodes)}capturing`]: 'false' },
  })),
  draw: (situation) => {
    const drawing_id = situation.freshId();
    const [x, y, svg] = [coordinate(situation.chance), 0, '<svg/>'];
    const key = keysOf.drawing(idOf(situation), drawing_id);
    const change = { [`${key}at`]: place(x, y), [`${key}svg`]: svg };
    return { line: `POST ${at(situation)}/drawings`, body: { drawing_id, x, y, svg }, change, project: idOf(situation) };
  },
  redraw: drawing((drawing_id, situation) => {
    const [x, y] = [coordinate(situation.chance), coordinate(situation.chance)];
    const change = { [`${keysOf.drawing(idOf(situation), drawing_id)}at`]: place(x, y) };
    return { line: `PUT ${at(situation)}/drawings/${drawing_id}`, body: { x, y }, change };
  }),
  erase: drawing((drawing_id, situation) => ({
    line: `DELETE ${at(situation)}/drawings/${drawing_id}`,
    change: gone(situation, keysOf.drawing(idOf(situation), drawing_id)),
  })),
  snapshot: anything(
    () => 'POST /snapshots',
    (situation) => ({ name: nameOf(situation, 's'), archive: situation.chance.next() < 0.3 }),
  ),
  freeze: anything(
    () => 'POST /snapshots',
    (situation) => ({ name: nameOf(situation, 'f'), memory: true }),
  ),
  rewind: anything((situation) => {
    const chosen = situation.chance.pick(situation.sight.snapshots);
    return chosen && `POST /snapshots/${chosen.snapshot_id}/restore`;
  }),
  fork_snapshot: anything(
    (situation) => {
      const chosen = situation.chance.pick(situation.sight.snapshots);
      return chosen && `POST /snapshots/${chosen.snapshot_id}/fork`;
    },
    (situation) => ({ name: nameOf(situation, 'G') }),
  ),
  delete_snapshot: (situation) => {
    const chosen = situation.chance.pick(situation.sight.snapshots);
    if (!chosen) return undefined;
    const change = { [keysOf.snapshot(idOf(situation), chosen.snapshot_id)]: '' };
    return { line: `DELETE ${at(situation)}/snapshots/${chosen.snapshot_id}`, change, project: idOf(situation) };
  },
  undo: anything(() => 'POST /undo'),
  redo: anything(() => 'POST /redo'),
  undo_one: anything(
    ({ sight }) => (sight.steps.undoable.length > 0 ? 'POST /undo' : undefined),
    ({ chance, sight }) => ({ only: chance.pick(sight.steps.undoable) }),
  ),
  redo_one: anything(
    ({ sight }) => (sight.steps.redoable.length > 0 ? 'POST /redo' : undefined),
    ({ chance, sight }) => ({ only: chance.pick(sight.steps.redoable) }),
  ),
  undo_all: anything(
    () => 'POST /undo',
    () => ({ until: 0 }),
  ),
};

function run(verb: 'start' | 'stop', status: string): Builder {
  return node(({ node_id }, situation) => {
    const change = { [`${keysOf.node(idOf(situation), node_id)}status`]: status };
    return { line: `POST ${at(situation)}/nodes/${node_id}/${verb}`, body: {}, change };
  }, isRunnable);
}

function link(build: (link: Link, situation: Situation) => Omit<Request, 'project'> | undefined): Builder {
  return (situation) => {
    const chosen = situation.chance.pick(situation.sight.links);
    const request = chosen && build(chosen, situation);
    return request && { ...request, project: idOf(situation) };
  };
}

function drawing(build: (drawing: string, situation: Situation) => Omit<Request, 'project'>): Builder {
  return (situation) => {
    const chosen = situation.chance.pick(situation.sight.drawings);
    return chosen && { ...build(chosen.drawing_id, situation), project: idOf(situation) };
  };
}
