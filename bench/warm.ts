/** Freezing, rewinding and forking a lab of real guests, against booting it in the same run. */
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'undici';
import { Console } from '../demo/console.ts';
import { Turns } from './fabric/figures.ts';
import { type Row, request } from './measure.ts';
import { type Running, startPatchbay } from './server.ts';

const run = promisify(execFile);
const forkCount = 20;
const limitMs = 180_000;

interface Machine {
  readonly name: string;
  readonly properties: Readonly<Record<string, unknown>>;
}
interface Node {
  readonly node_id: string;
  readonly console: number;
}
interface Project {
  readonly project_id: string;
}
interface Snapshot {
  readonly snapshot_id: string;
  readonly memory: { readonly status: string; readonly paused_ms: number; readonly skew_ms: number };
}

export async function benchWarm(say: (text: string) => void): Promise<Row[]> {
  const server = await startPatchbay();
  const other = await startPatchbay().catch(async (error: unknown) => {
    await server.stop();
    throw error;
  });
  const client = new Client(server.url, { headersTimeout: 0 });
  const lab = new WarmLab(client);
  try {
    const machines = await makeImages(server);
    say('three machines boot');
    const { bootMs, snapshot, readyMs, rewindMs, forkMs } = await lab.ofThree(machines, say);
    const row = (what: string, ours: number, baseline = bootMs, against = 'cold boot of the same three machines'): Row => ({
      ...{ what, ours, baseline, against },
    });
    say('one machine boots, and is forked');
    const single = await lab.make('one', machines.slice(0, 1));
    const singleMs = await timed(() => lab.boot(single));
    const coldMiB = await memoryMiB(server, (line) => line.includes('guest=one-0') && !line.includes('-incoming'));
    const { snapshot: small } = await lab.freeze(single);
    const forksMs = await timed(async () => {
      const forks = await lab.fork(`/v2/projects/${single.project_id}/snapshots/${small.snapshot_id}`, forkCount);
      await Promise.all(forks.map((fork) => lab.answers(fork)));
    });
    const warmMiB = await memoryMiB(server, (line) => line.includes('guest=one-0') && line.includes('-incoming'));
    say('nodes are made from a warm template');
    const template = await lab.keep(single);
    const warm = await lab.make('warm', []);
    const templateMs = await timed(async () => {
      await lab.use(warm, template);
      await lab.start(warm);
      await lab.answers(warm);
    });
    say('one machine moves to another server');
    const moved = await lab.make('moved', machines.slice(0, 1));
    await lab.boot(moved);
    const pausedMs = await lab.move(moved, await lab.register(other));
    await lab.answers(moved);
    const restartMs = await timed(() => lab.restartOn(moved, 'local'));
    const one = 'cold boot of one';
    return [
      row('pause of three machines that are frozen, at most, ms', snapshot.memory.paused_ms),
      row('between their pauses, ms', snapshot.memory.skew_ms),
      row('until their memory is on disk, ms', readyMs),
      row('rewind, until all consoles answer, ms', rewindMs),
      row('fork, until all consoles answer, ms', forkMs),
      row(`${forkCount} forks of one machine, until all consoles answer, ms`, forksMs, singleMs, one),
      row('node from a warm template: made, started, its console answers, ms', templateMs, singleMs, one),
      row('memory of a forked machine (PSS), MiB', warmMiB, coldMiB, 'the machine that booted'),
      row('move to another server, pause of the guest, ms', pausedMs, restartMs, 'stopped, moved and booted there'),
    ];
  } finally {
    await client.close();
    await Promise.all([server.stop(), other.stop()]);
  }
}

/** Freezes, rewinds and forks three machines, in turn with the program of an earlier checkout in the folder `before`. */
export async function warmInTurn(rounds: number, before: string | undefined): Promise<void> {
  if (before === undefined) return console.log('Not measured: it takes turns with an earlier checkout, which --before names.');
  const turns = new Turns();
  const programs = { now: undefined, before: join(before, 'src/main.ts') };
  for (let round = 0; round < rounds; round += 1) {
    for (const [version, program] of Object.entries(programs)) {
      const server = await startPatchbay('', program);
      const client = new Client(server.url, { headersTimeout: 0 });
      try {
        const { snapshot, readyMs, rewindMs, forkMs } = await new WarmLab(client).ofThree(await makeImages(server));
        const { paused_ms } = snapshot.memory;
        for (const [what, ms] of Object.entries({ pause: paused_ms, freeze: readyMs, rewind: rewindMs, fork: forkMs }))
          turns.note(`${what}, ${version}`, ms);
      } finally {
        await client.close();
        await server.stop();
      }
    }
    console.error(`round ${round + 1}: ${turns.last}`);
  }
  console.log(turns.table('ms', (way) => way.replace(/now$/, 'before')));
}

class WarmLab {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  /** Boots three of these machines, freezes them, rewinds them, and forks their project. */
  async ofThree(machines: readonly Machine[], say: (text: string) => void = () => {}) {
    const project = await this.make('three', [...machines, ...machines].slice(0, 3));
    const bootMs = await timed(() => this.boot(project));
    const { snapshot, readyMs } = await this.freeze(project);
    say('rewind and fork');
    const path = `/v2/projects/${project.project_id}/snapshots/${snapshot.snapshot_id}`;
    const rewindMs = await timed(async () => {
      await this.#post(`${path}/restore`, {});
      await this.answers(project);
    });
    const forkMs = await timed(async () => {
      for (const fork of await this.fork(path, 1)) await this.answers(fork);
    });
    return { bootMs, snapshot, readyMs, rewindMs, forkMs };
  }

  async make(name: string, machines: readonly Machine[]): Promise<Project> {
    const project = await this.#post<Project>('/v2/projects', { name, auto_close: false });
    for (const [index, { properties }] of machines.entries()) {
      const node = { name: `${name}-${index}`, node_type: 'qemu', compute_id: 'local', properties };
      await this.#post(`/v2/projects/${project.project_id}/nodes`, node);
    }
    return project;
  }

  /** @returns the id of a template that holds its only machine */
  async keep({ project_id }: Project): Promise<string> {
    const [node] = await this.#get<Node[]>(`/v2/projects/${project_id}/nodes`);
    const path = `/v2/projects/${project_id}/nodes/${node?.node_id}/warm_template`;
    return (await this.#post<{ template_id: string }>(path, {})).template_id;
  }

  async use({ project_id }: Project, templateId: string): Promise<void> {
    await this.#post(`/v2/projects/${project_id}/templates/${templateId}`, { x: 0, y: 0 });
  }

  async start({ project_id }: Project): Promise<void> {
    await this.#post(`/v2/projects/${project_id}/nodes/start`, {});
  }

  async boot(project: Project): Promise<void> {
    await this.start(project);
    await this.#onConsoles(project, async (console) => void (await console.expect(/GUEST READY.*# $/s, limitMs)));
  }

  answers(project: Project): Promise<void> {
    return this.#onConsoles(project, async (console) => void (await console.run('echo alive', limitMs)));
  }

  async freeze({ project_id }: Project): Promise<{ snapshot: Snapshot; readyMs: number }> {
    const path = `/v2/projects/${project_id}/snapshots`;
    const snapshot = await this.#post<Snapshot>(path, { name: 'warm', memory: true });
    const readyMs = await timed(async () => {
      for (;;) {
        const all = await this.#get<Snapshot[]>(path);
        if (all.every(({ memory }) => memory.status === 'ready')) return;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    });
    return { snapshot, readyMs };
  }

  fork(path: string, count: number): Promise<Project[]> {
    return this.#post<Project[]>(`${path}/fork`, { count });
  }

  /** @returns the id of the compute */
  async register({ url }: Running): Promise<string> {
    const { hostname: host, port } = new URL(url);
    const body = { name: 'other', protocol: 'http', host, port: Number(port) };
    return (await this.#post<{ compute_id: string }>('/v2/computes', body)).compute_id;
  }

  /** @returns for how long its only machine was paused, milliseconds */
  async move({ project_id }: Project, compute_id: string): Promise<number> {
    const [node] = await this.#get<Node[]>(`/v2/projects/${project_id}/nodes`);
    const path = `/v2/projects/${project_id}/nodes/${node?.node_id}/migrate`;
    return (await this.#post<{ paused_ms: number }>(path, { compute_id })).paused_ms;
  }

  async restartOn(project: Project, computeId: string): Promise<void> {
    await this.#post(`/v2/projects/${project.project_id}/nodes/stop`, {});
    await this.move(project, computeId);
    await this.boot(project);
  }

  async #onConsoles({ project_id }: Project, use: (console: Console) => Promise<void>): Promise<void> {
    const nodes = await this.#get<Node[]>(`/v2/projects/${project_id}/nodes`);
    await Promise.all(
      nodes.map(async (node) => {
        const console = await Console.open(node.console);
        await use(console).finally(() => console.close());
      }),
    );
  }

  async #get<T>(path: string): Promise<T> {
    const { body } = await this.#client.request({ method: 'GET', path });
    return (await body.json()) as T;
  }

  #post<T>(path: string, body: unknown): Promise<T> {
    return request(this.#client, { method: 'POST', path, body }) as Promise<T>;
  }
}

/** The demo's guest among the images of the server. */
async function makeImages({ folder }: Running): Promise<Machine[]> {
  const { stdout } = await run(process.execPath, [join(import.meta.dirname, '../demo/lab.ts'), join(folder, 'images/QEMU')]);
  const last = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as { machines?: Machine[]; failure?: string };
  if (!last.machines) throw new Error(`the guest was not made: ${last.failure}`);
  return last.machines;
}

/** Proportional set size of a server's machines, on average. */
async function memoryMiB({ folder }: Running, isWanted: (commandLine: string) => boolean): Promise<number> {
  const sizes: number[] = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const commandLine = await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '');
    if (!commandLine.includes('qemu-system') || !commandLine.includes(`${folder}/`) || !isWanted(commandLine)) continue;
    const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
    sizes.push(Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) / 1024);
  }
  return sizes.reduce((sum, size) => sum + size, 0) / Math.max(1, sizes.length);
}

async function timed(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
