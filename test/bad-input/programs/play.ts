/** Plays a program: sends its requests, makes its troubles, and compares the state with what was acknowledged. */
import assert from 'node:assert/strict';
import { faultRows } from '../../../src/api/faults.ts';
import type { ProjectPlacement } from '../../../src/controller/placement/placement-request.ts';
import type { Project } from '../../../src/schema/project.ts';
import { makeChance } from '../../durability/random.ts';
import { RawClient, type Reply } from '../../support/raw-http.ts';
import { waitFor } from '../../support/wait-for.ts';
import { Facts } from './facts.ts';
import { clientCount, isTrouble, type Program, type Step, type Trouble } from './program.ts';
import { type Request, requests } from './requests.ts';
import { factsOf, look } from './sight.ts';
import { awayId, type Stage } from './stage.ts';

/** An answer that takes longer means that something is stuck; a compute that was cut off is waited for. */
const limitMs = 90_000;
const settleMs = 120_000;
const shownBytes = 600;
const declared = new Set(faultRows().map(({ status }) => status));
/** Steps that a trouble lasts, at most. */
const mostLasting = 6;

export interface Played {
  /** The first fault; undefined: there was none. */
  readonly violation: string | undefined;
  /** Commands that were sent, for a shell. */
  readonly lines: readonly string[];
}

/** Something is not as promised. */
export class Violation extends Error {}

export class Player {
  readonly #stage: Stage;
  readonly #program: Program;
  readonly #facts = new Facts();
  readonly #clients: RawClient[];
  readonly #lines: string[] = [];
  readonly #found: string[] = [];
  /** Requests that are being answered, by project. */
  readonly #open = new Map<string, number>();
  /** Requests about each project so far. */
  readonly #sent = new Map<string, number>();
  /** Projects whose state is not known until it is read. */
  readonly #unknown = new Set<string>();
  /** Projects that began empty and whose whole history can be undone. */
  readonly #fresh = new Set<string>();
  /** Projects of which nodes were stopped since a capture was begun: it ends with its node, at once or soon after the answer. */
  readonly #stopped = new Set<string>();
  /** Projects of which links were connected to other ports since a capture was begun: it continues there, at once or soon after the answer. */
  readonly #rewired = new Set<string>();
  /** Projects that must be listed, and those that must not. */
  readonly #existing = new Set<string>();
  readonly #gone = new Set<string>();
  readonly #troubles: { readonly until: number; readonly end: () => Promise<void> }[] = [];
  /** Grows with each end of the server: requests of before have no answer. */
  #epoch = 0;
  #fills = 0;
  #isFull = false;
  #number = 0;

  constructor(stage: Stage, program: Program) {
    this.#stage = stage;
    this.#program = program;
    this.#clients = Array.from(
      { length: clientCount },
      (_, index) => new RawClient(stage.server.url, { 'x-patchbay-client': `C${index}` }),
    );
  }

  get lines(): readonly string[] {
    return this.#lines;
  }
  get fresh(): ReadonlySet<string> {
    return this.#fresh;
  }

  /** @throws {Violation} */
  async play(): Promise<void> {
    const busy = Array.from({ length: clientCount }, () => Promise.resolve());
    const allAnswered = () => Promise.all(busy);
    try {
      for (const [number, step] of this.#program.steps.entries()) {
        await this.#endTroubles(number);
        if (isTrouble(step.what)) {
          if (step.what !== 'kill') await allAnswered();
          await this.#trouble(step.what, number, step.of);
        } else {
          await busy[step.client];
          busy[step.client] = this.#step(step, number).catch((error: unknown) => {
            this.#found.push(String(error));
          });
        }
        if (this.#found.length > 0) break;
      }
      await allAnswered();
      await this.#endTroubles(Number.POSITIVE_INFINITY);
      await this.#compare('at the end');
    } finally {
      await allAnswered();
      await this.#endTroubles(Number.POSITIVE_INFINITY);
      for (const client of this.#clients) client.close();
    }
  }

  async #step({ client: index, what, of }: Step, number: number): Promise<void> {
    const client = this.#clients[index] as RawClient;
    const epoch = this.#epoch;
    let ids = 0;
    const chance = makeChance(of + 1);
    const request = await this.#prepare(client, {
      what: what as keyof typeof requests,
      chance,
      freshId: () => this.#idOf(number, ids++),
    }).catch((error: unknown) => {
      if (epoch === this.#epoch && this.#stage.server.running) throw error;
      return undefined;
    });
    if (request) await this.#send(client, request, what);
  }

  #idOf(step: number, count: number): string {
    const hex = (value: number, digits: number) => (value >>> 0).toString(16).padStart(digits, '0');
    return `${hex(this.#program.seed, 8)}-0000-4000-8000-${hex(step + 1, 6)}${hex(count, 6)}`;
  }

  async #prepare(
    client: RawClient,
    { what, chance, freshId }: { what: keyof typeof requests; chance: ReturnType<typeof makeChance>; freshId: () => string },
  ): Promise<Request | undefined> {
    const projects = await client.get<Project[]>('/v2/projects');
    const open = projects.filter(({ status }) => (what === 'open' ? status !== 'opened' : status === 'opened'));
    const chosen = chance.pick(open.length > 0 ? open : projects);
    const sight = chosen && (await look(client, chosen.project_id));
    if (!sight && what !== 'make_project') return what === 'open' && chosen ? this.#opening(chosen.project_id) : undefined;
    const none = {
      project: { project_id: '' },
      nodes: [],
      links: [],
      drawings: [],
      snapshots: [],
      steps: { undoable: [], redoable: [] },
    };
    return requests[what]({
      ...{ chance, freshId, facts: this.#facts, computes: ['local', awayId] },
      sight: sight ?? (none as never),
      archiveOf: async (project) => {
        const reply = await this.#ask(client, `GET /v2/projects/${project}/export`, {}, 'export');
        return reply?.status === 200 ? reply.bytes : undefined;
      },
    });
  }

  #opening(id: string): Request {
    return { line: `POST /v2/projects/${id}/open`, body: {}, project: id };
  }

  async #send(client: RawClient, request: Request, what: string): Promise<void> {
    const { project, change, line, body, raw } = request;
    if (project !== undefined) {
      this.#open.set(project, (this.#open.get(project) ?? 0) + 1);
      this.#sent.set(project, (this.#sent.get(project) ?? 0) + 1);
      if (!change) this.#unknown.add(project);
    }
    const claim = this.#facts.begin(change ?? {}, request.perhaps);
    const noteInterruption = () => {
      if (project === undefined) return;
      if (what === 'stop' || what === 'stop_all') this.#stopped.add(project);
      else if (what === 'rewire') this.#rewired.add(project);
    };
    noteInterruption();
    const reply = await this.#ask(client, line, { ...(raw ? { raw } : body !== undefined && { body }) }, what);
    noteInterruption();
    if (project !== undefined && what === 'capture') for (const noted of [this.#stopped, this.#rewired]) noted.delete(project);
    if (project !== undefined) this.#open.set(project, (this.#open.get(project) ?? 0) - 1);
    // A stop that does not reach its compute stays wanted.
    if (!reply || (what === 'stop' && reply.status >= 300)) claim.lost();
    else if (reply.status < 300) claim.done();
    else claim.refused();
    if (what === 'delete_project') this.#deleted(line, reply);
    else if (reply?.status === 201) await this.#made(client, what, reply);
    // These end the history, or bring nodes back with what undo does not know.
    if (project !== undefined && ['rewind', 'close', 'open', 'migrate'].includes(what)) this.#fresh.delete(project);
    if (project !== undefined && !change && reply) await this.#read(client, project).catch(() => undefined);
  }

  #deleted(line: string, reply: Reply | undefined): void {
    const id = line.split('/').at(-1) ?? '';
    const wasThere = this.#existing.delete(id);
    if (reply && reply.status < 300) this.#gone.add(id);
    // A deletion without an answer may have happened or not.
    else if (reply && wasThere) this.#existing.add(id);
  }

  /** Keeps the projects that an answer says were made. */
  async #made(client: RawClient, what: string, reply: Reply): Promise<void> {
    const isMaking = ['make_project', 'duplicate', 'import', 'fork', 'fork_snapshot'].includes(what);
    const made = isMaking ? [reply.json<Project | Project[]>()].flat().flatMap(({ project_id }) => project_id ?? []) : [];
    for (const id of made) {
      this.#existing.add(id);
      this.#unknown.add(id);
      if (what === 'make_project') this.#fresh.add(id);
      await this.#read(client, id).catch(() => undefined);
    }
  }

  /** Reads a project whose state is not known, if no other client changes it meanwhile. */
  async #read(client: RawClient, project: string): Promise<void> {
    const sent = this.#sent.get(project);
    const isQuiet = () => (this.#open.get(project) ?? 0) === 0 && this.#sent.get(project) === sent;
    const epoch = this.#epoch;
    // The state of a node that is not yet as it is wanted is not known.
    if (!isQuiet() || !(await isSettled(client, project).catch(() => false))) return;
    const sight = await look(client, project);
    if (!sight || !isQuiet() || epoch !== this.#epoch) return;
    this.#facts.adopt(`${project}/`, factsOf(sight));
    this.#unknown.delete(project);
  }

  /** @returns undefined where the server was ended meanwhile */
  async #ask(
    client: RawClient,
    line: string,
    payload: { body?: unknown; raw?: Uint8Array },
    what: string,
  ): Promise<Reply | undefined> {
    const [epoch, fills, wasFull] = [this.#epoch, this.#fills, this.#isFull];
    const number = ++this.#number;
    this.#lines.push(curlOf(line, payload, `${number} ${what}`));
    try {
      const reply = await client.send(line, { ...payload, limitMs });
      this.#lines.push(`# ${number}: ${reply.status}${reply.status < 300 ? '' : ` ${reply.text().slice(0, shownBytes)}`}`);
      this.#judge(reply, wasFull || this.#isFull || fills !== this.#fills);
      return reply;
    } catch (error) {
      if (error instanceof Violation || (epoch === this.#epoch && this.#stage.server.running)) throw new Violation(String(error));
      this.#lines.push(`# ${number}: no answer`);
      return undefined;
    }
  }

  #judge(reply: Reply, wasFull: boolean): void {
    const { status, request } = reply;
    if (status < 300) return;
    const text = reply.text().slice(0, shownBytes);
    if (status === 500 || !declared.has(status)) throw new Violation(`${request}: ${status} ${text}`);
    if (status === 507 && !wasFull) throw new Violation(`${request}: 507 though the disk has room: ${text}`);
    if (typeof reply.json().message !== 'string') throw new Violation(`${request}: ${status} without a message: ${text}`);
  }

  async #trouble(what: Trouble, number: number, of: number): Promise<void> {
    this.#lines.push(`# ${what}`);
    const { server, cable, away, hasDisk } = this.#stage;
    const until = number + 1 + (of % mostLasting);
    if (what === 'kill') return this.#restart(() => server.kill9());
    if (what === 'crash') {
      await this.#compare('before the crash');
      return this.#restart(() => server.kill9());
    }
    if (what === 'restart') return this.#restart(() => server.terminate());
    if (what === 'kill_away') {
      await away.kill9();
      this.#troubles.push({ until, end: () => away.restart() });
    } else if (what === 'cut') {
      cable.cut();
      this.#troubles.push({ until, end: async () => cable.repair() });
    } else if (hasDisk && !this.#isFull) {
      const free = await this.#stage.fill();
      this.#isFull = true;
      this.#fills += 1;
      const end = async () => {
        await free();
        this.#isFull = false;
      };
      this.#troubles.push({ until, end });
    }
  }

  async #endTroubles(number: number): Promise<void> {
    for (const trouble of this.#troubles.filter(({ until }) => until <= number)) {
      this.#troubles.splice(this.#troubles.indexOf(trouble), 1);
      this.#lines.push('# a trouble ends');
      await trouble.end();
    }
  }

  /** Ends the server and starts it again with all troubles over: what was acknowledged is there. */
  async #restart(end: () => Promise<unknown>): Promise<void> {
    const { server, loop } = this.#stage;
    this.#epoch += 1;
    await end();
    await this.#endTroubles(Number.POSITIVE_INFINITY);
    await server.restart();
    await loop.restart(server);
    await this.#compare('after the restart');
  }

  async #compare(when: string): Promise<void> {
    using client = new RawClient(this.#stage.server.url);
    if (this.#troubles.length > 0) return;
    await this.#stage.untilAway(client);
    const projects = await client.get<Project[]>('/v2/projects');
    const listed = new Set(projects.map(({ project_id }) => project_id));
    const problems = [...this.#existing].filter((id) => !listed.has(id)).map((id) => `the project ${id} is gone`);
    problems.push(...[...this.#gone].filter((id) => listed.has(id)).map((id) => `the project ${id} is not deleted`));
    const consoles = new Map<number, string>();
    for (const { project_id, status } of projects) {
      if (status !== 'opened') continue;
      await waitFor(() => isSettled(client, project_id), {
        what: `nodes of ${project_id} that run as they are wanted`,
        limitMs: settleMs,
      });
      const sight = await look(client, project_id);
      if (!sight) continue;
      for (const { node_id, compute_id, console: port } of sight.nodes) {
        if (port === null || compute_id !== 'local') continue;
        if (consoles.has(port)) problems.push(`${node_id} and ${consoles.get(port)} have the console ${port}`);
        consoles.set(port, node_id);
      }
      const isQuiet = (this.#open.get(project_id) ?? 0) === 0;
      if (!this.#existing.has(project_id) || this.#unknown.has(project_id) || !isQuiet)
        this.#facts.adopt(`${project_id}/`, factsOf(sight));
      else problems.push(...this.#facts.check(`${project_id}/`, factsOf(sight), (...fact) => this.#mayDiffer(project_id, ...fact)));
      if (isQuiet) this.#unknown.delete(project_id);
    }
    if (problems.length > 0) throw new Violation(`${when}: ${problems.join('\n')}`);
  }

  #mayDiffer(project: string, key: string, value: string): boolean {
    if (!key.endsWith('capturing')) return false;
    // A full disk ends a capture at the next frame.
    const mayHaveEnded = this.#stopped.has(project) || this.#fills > 0;
    return this.#rewired.has(project) ? value !== '' : value === 'false' && mayHaveEnded;
  }
}

/**
 * A start that was not answered is carried out once the server runs again, if it was recorded; a node that a full disk kept from being made
 * is made once there is room.
 */
async function isSettled(client: RawClient, id: string): Promise<boolean> {
  const problems = await client.get<{ message: string }[]>(`/v2/projects/${id}/problems`);
  assert.deepEqual(
    problems.filter(({ message }) => message.includes('ENOSPC')),
    [],
  );
  const { nodes } = await client.get<ProjectPlacement>(`/v2/projects/${id}/placement`);
  const shown = await client.get<{ node_id: string; status: string }[]>(`/v2/projects/${id}/nodes`);
  const status = new Map(shown.map((node) => [node.node_id, node.status]));
  const others = nodes.filter((node) => (node.wanted === 'running') !== (status.get(node.node_id) !== 'stopped'));
  assert.deepEqual(others, []);
  return shown.length === nodes.length;
}

function curlOf(line: string, { body, raw }: { body?: unknown; raw?: Uint8Array }, comment: string): string {
  const [method, path] = line.split(' ');
  const data = raw ? ' --data-binary @exported.gns3project' : body === undefined ? '' : ` -d ${quote(JSON.stringify(body))}`;
  return `curl -X ${method} ${quote(`$SERVER${path}`, '"')}${data} # ${comment}`;
}

function quote(text: string, mark = "'"): string {
  return `${mark}${text.replaceAll("'", mark === "'" ? "'\\''" : "'")}${mark}`;
}
