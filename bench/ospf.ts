/**
 * A ring of FRR containers with OSPF, its default timers: how long until all adjacencies are full, and until all routes are right after
 * a link is suspended and resumed, with and without a carrier that follows the link. `node bench/ospf.ts [--routers 20] [--rounds 3]`.
 * Root only; needs a Docker engine, or dockerd, and Debian's packages of FRR (`demo/containers`).
 *
 * Routes are watched in each container's network as the kernel reports them, so nothing is polled. While all neighbours are adjacent, each
 * router reaches each other one by the shorter way round; while a link is missing, by the only way.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { Agent, request } from 'undici';
import { ServerClient } from '../cli/server-client.ts';
import { DemoEngine, planEngine } from '../demo/containers/engine.ts';
import { ensureImage, loadImage } from '../demo/containers/image.ts';
import { frrRecipe } from '../demo/containers/recipes.ts';
import { applyPlan } from '../lab/apply.ts';
import { filesOf } from '../lab/file/lab-files.ts';
import { loadLab } from '../lab/file/load-lab.ts';
import { planOn } from '../lab/open-lab.ts';
import type { Link } from '../src/schema/link.ts';
import type { Node } from '../src/schema/node.ts';
import { median } from './fabric/figures.ts';
import { startPatchbay } from './server.ts';

const { values } = parseArgs({ options: { routers: { type: 'string', default: '20' }, rounds: { type: 'string', default: '3' } } });
const count = Number(values.routers);
const rounds = Number(values.rounds);
const limitMs = 300_000;
const say = (text: string) => process.stderr.write(`ospf: ${text}\n`);

/** `10.255.0.N` is the address of router N itself; `10.N.0.0/30` joins it by eth1 to eth0 of the next one. */
function labText(): string {
  const routers = Array.from({ length: count }, (_, index) => index + 1);
  const before = (router: number) => (router === 1 ? count : router - 1);
  const configuration = (router: number) => `
        interface lo
         ip address 10.255.0.${router}/32
        interface eth0
         ip address 10.${before(router)}.0.2/30
         ip ospf network point-to-point
        interface eth1
         ip address 10.${router}.0.1/30
         ip ospf network point-to-point
        router ospf
         network 10.0.0.0/8 area 0`;
  const nodes = routers.map(
    (router) => `
  R${router}:
    files:
      etc/frr/daemons: "ospfd=yes\\n"
      etc/frr/frr.conf: |${configuration(router)}`,
  );
  const links = routers.map((router) => `\n  - ["R${router}:eth1", "R${(router % count) + 1}:eth0"]`);
  const defaults = 'defaults: {kind: docker, image: patchbay-frr, adapters: 2, properties: {extra_volumes: [/etc/frr]}}';
  return `name: ospf-ring\n${defaults}\nnodes:${nodes.join('')}\nlinks:${links.join('')}\n`;
}

/** The interface by which each router reaches each other one. */
class RouteWatch {
  readonly #dev: Map<number, string>[] = Array.from({ length: count + 1 }, () => new Map());
  readonly #children: ChildProcess[] = [];
  #changed: () => void = () => undefined;

  async add(router: number, pid: number): Promise<void> {
    for (const [listing, args] of [
      [false, ['monitor', 'route']],
      [true, ['route', 'show']],
    ] as const) {
      const command = ['--target', String(pid), '--net', 'ip', '-oneline', ...args];
      const child = spawn('nsenter', command, { stdio: ['ignore', 'pipe', 'inherit'] });
      this.#children.push(child);
      createInterface({ input: child.stdout }).on('line', (line) => this.#note(router, line));
      if (listing) await once(child, 'close');
    }
  }

  /** Time at which all routes became right, by `performance.now()`. */
  until(isRight: (from: number, to: number, dev: string) => boolean, what: string): Promise<number> {
    const routers = Array.from({ length: count }, (_, index) => index + 1);
    const isDone = () =>
      routers.every((from) => routers.every((to) => from === to || isRight(from, to, this.#dev[from]?.get(to) ?? '')));
    return new Promise((settle, refuse) => {
      const limit = setTimeout(() => refuse(new Error(`waited in vain for ${what}`)), limitMs);
      this.#changed = () => {
        if (!isDone()) return;
        clearTimeout(limit);
        this.#changed = () => undefined;
        settle(performance.now());
      };
      this.#changed();
    });
  }

  close(): void {
    for (const child of this.#children) child.kill();
  }

  #note(router: number, line: string): void {
    const to = Number(/10\.255\.0\.(\d+) /.exec(line)?.[1]);
    const dev = / dev (\S+)/.exec(line)?.[1];
    if (!to || dev === undefined) return;
    const routes = this.#dev[router];
    if (!line.includes('Deleted')) routes?.set(to, dev);
    else if (routes?.get(to) === dev) routes.delete(to);
    this.#changed();
  }
}

/** The shorter way round; either where both are as long. */
function isRing(from: number, to: number, dev: string): boolean {
  const ahead = (to - from + count) % count;
  if (ahead * 2 === count) return dev !== '';
  return dev === (ahead * 2 < count ? 'eth1' : 'eth0');
}

/** Whether the route is right without the link from the last router to the first. */
function isLine(from: number, to: number, dev: string): boolean {
  return dev === (to > from ? 'eth1' : 'eth0');
}

async function pidOf(socketPath: string, container: unknown): Promise<number> {
  const dispatcher = new Agent({ connect: { socketPath } });
  try {
    const { body } = await request(`http://docker/containers/${container}/json`, { dispatcher });
    return ((await body.json()) as { State: { Pid: number } }).State.Pid;
  } finally {
    await dispatcher.close();
  }
}

const folder = await mkdtemp(join(tmpdir(), 'ospf-bench-'));
const plan = await planEngine(folder);
if ('reason' in plan) {
  say(`cannot be measured: ${plan.reason}`);
  process.exit(2);
}
await using started = new AsyncDisposableStack();
started.defer(() => rm(folder, { recursive: true, force: true }));
const recipe = await frrRecipe();
const archive = await ensureImage(recipe, say);
const engine = await DemoEngine.start(plan);
started.defer(() => engine.stop());
await loadImage(plan.socket, recipe, archive);
const server = await startPatchbay(`[Docker]\nsocket_path = ${plan.socket}\n`);
started.defer(() => server.stop());
const api = new ServerClient({ url: server.url });
const lab = await loadLab({ text: labText(), file: 'ospf-ring.yaml', files: filesOf({}) });
const { project_id } = await applyPlan(api, lab, await planOn(api, lab));
const project = `/v2/projects/${project_id}`;
started.defer(() => api.json('DELETE', project).then(() => undefined));
say(`${count} containers start`);
const startedAt = performance.now();
await api.json('POST', `${project}/nodes/start`, {});
const runningAt = performance.now();
const watch = new RouteWatch();
started.defer(() => watch.close());
const nodes = await api.json<Node[]>('GET', `${project}/nodes`);
await Promise.all(
  nodes.map(async ({ name, properties }) => watch.add(Number(name.slice(1)), await pidOf(plan.socket, properties.container_id))),
);
const fullAt = await watch.until(isRing, 'full adjacencies');
const links = await api.json<Link[]>('GET', `${project}/links`);
const [last, first] = [`R${count}`, 'R1'].map((wanted) => nodes.find(({ name }) => name === wanted)?.node_id);
const cut = links.find(({ nodes: ends }) => [last, first].every((id) => ends.some(({ node_id }) => node_id === id)));
if (!cut) throw new Error('the ring is not closed');
const lost: Record<'with' | 'without', number[]> = { with: [], without: [] };
const back: typeof lost = { with: [], without: [] };
for (let round = 0; round < rounds; round += 1) {
  for (const carrier of ['with', 'without'] as const) {
    say(`round ${round + 1}, ${carrier} carrier`);
    await api.json('PUT', project, { replicate_link_state: carrier === 'with' });
    for (const [suspend, isRight, times] of [
      [true, isLine, lost],
      [false, isRing, back],
    ] as const) {
      const at = performance.now();
      await api.json('PUT', `${project}/links/${cut.link_id}`, { suspend });
      times[carrier].push((await watch.until(isRight, suspend ? 'the other way' : 'the ring')) - at);
    }
  }
}
const seconds = (ms: number) => (ms / 1000).toFixed(2);
console.log(`| a ring of ${count} FRR containers, OSPF with its default timers | with carrier, s | without, s |\n|---|---:|---:|`);
console.log(`| start of all containers | ${seconds(runningAt - startedAt)} | |`);
console.log(`| from there to full adjacencies and all routes | ${seconds(fullAt - runningAt)} | |`);
console.log(`| all routes right after a link was suspended | ${seconds(median(lost.with))} | ${seconds(median(lost.without))} |`);
console.log(`| and after it was resumed | ${seconds(median(back.with))} | ${seconds(median(back.without))} |`);
