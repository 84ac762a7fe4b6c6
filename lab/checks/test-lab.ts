/**
 * Tests a lab: applies it to a temporary project, waits until it is ready, runs the checks, certifies the emulation, and removes
 * the project.
 */
import { randomBytes } from 'node:crypto';
import type { Link } from '../../src/schema/link.ts';
import type { Node } from '../../src/schema/node.ts';
import { applyPlan } from '../apply.ts';
import type { Lab } from '../file/lab.ts';
import { LabError } from '../file/lab-error.ts';
import { planOn } from '../open-lab.ts';
import { bounded } from '../state/lab-state.ts';
import type { CheckApi } from './api/check-api.ts';
import { chancesOf } from './chance/chance.ts';
import { formatChance } from './chance/format-chance.ts';
import { unlikely } from './chance/packet-check.ts';
import { Platforms } from './console/platforms.ts';
import { readFidelity } from './definition/fidelity-limits.ts';
import { type CheckStep, isGroup, isProbe, type TrafficRun } from './definition/steps.ts';
import { certify } from './fidelity/certificate.ts';
import { FidelityWatch } from './fidelity/fidelity-watch.ts';
import { commandOf } from './probes/node-probe.ts';
import { type TestReport, type TopologyPicture, verdictOf } from './report/test-report.ts';
import { CheckRunner } from './run/check-runner.ts';
import { LabSite, SiteError } from './run/lab-site.ts';
import { readReplay } from './run/read-replay.ts';
import { type ReadyNode, waitReady } from './run/readiness.ts';
import { chooseSeed, linkSeed, seedLinks } from './run/seeds.ts';
import type { StepReport } from './run/step-report.ts';

interface TestOptions {
  readonly seed?: number | undefined;
  /** Largest failure probability with a faithful emulation; a check above it is an error of the lab file. */
  readonly strictChance?: number | undefined;
  /** Keep the project afterwards. */
  readonly keep?: boolean;
  /** Folder of the lab file. */
  readonly base: string;
  readonly signal: AbortSignal;
  /** API for requests after `signal` was aborted. */
  readonly cleanup: Pick<CheckApi, 'json'>;
  readonly onNote?: (text: string) => void;
  /** Links keep their filters: none gets a seed of the test. */
  readonly keepsLinks?: boolean;
  /** Called when the checks begin: no mistake of the file was found in the lab. */
  readonly onBegin?: () => void;
  readonly onStep?: (report: StepReport) => void;
}

/**
 * Tests a lab. @throws LabError, SiteError, PlatformError, NoCommandError, ReplayError for mistakes in the file; the reason of the
 * signal; errors of requests
 */
export async function testLab(api: CheckApi, lab: Lab, options: TestOptions): Promise<TestReport> {
  const name = `${lab.name}-test-${randomBytes(4).toString('hex')}`;
  const own = { ...lab, name, project: { ...lab.project, auto_close: false } };
  refuseLuck(lab, options);
  const plan = await planOn(api, own);
  let projectId: string | undefined;
  try {
    options.onNote?.(`Applying ${lab.name} as ${name}`);
    ({ project_id: projectId } = await applyPlan(api, own, plan, { signal: options.signal }));
    return await new LabTestRun(api, lab, options, projectId).run();
  } finally {
    projectId ??= await findProjectId(options.cleanup, name);
    if (projectId !== undefined && !options.keep) await options.cleanup.json('DELETE', `/v2/projects/${projectId}`);
  }
}

/**
 * Runs the checks on a project whose nodes run already: it neither starts nodes nor waits for them. Links get the seeds of the
 * test, unless `keepsLinks`.
 * @throws the errors of `testLab`
 */
export function checkProject(
  api: CheckApi,
  { lab, projectId }: { readonly lab: Lab; readonly projectId: string },
  options: Omit<TestOptions, 'cleanup' | 'keep'>,
): Promise<TestReport> {
  return new LabTestRun(api, lab, options, projectId).run({ starts: false });
}

/** Refuses checks that depend on luck more than `strictChance` allows. @throws LabError */
function refuseLuck(lab: Lab, { seed, strictChance, onNote }: Pick<TestOptions, 'seed' | 'strictChance' | 'onNote'>): void {
  const chances = [...chancesOf(lab, (seed ?? lab.test.seed) !== undefined)];
  const lucky = chances.filter(([, { fails = 0 }]) => fails > (strictChance ?? unlikely));
  const lines = lucky.map(([{ name }, { text }]) => `the check "${name}" ${text}`);
  if (strictChance === undefined) for (const line of lines) onNote?.(`Note: ${line}`);
  else if (lines.length > 0) throw new LabError(`${lines.join('; ')} (--strict-chance allows ${formatChance(strictChance)})`);
}

/** Finds the project of a lab, which exists even if it was not applied completely. */
async function findProjectId(api: Pick<CheckApi, 'json'>, name: string): Promise<string | undefined> {
  const projects = await api.json<{ name: string; project_id: string }[]>('GET', '/v2/projects');
  return projects.find((project) => project.name === name)?.project_id;
}

class LabTestRun {
  readonly #api: CheckApi;
  readonly #lab: Lab;
  readonly #options: Omit<TestOptions, 'cleanup' | 'keep'>;
  readonly #projectId: string;
  readonly #start = performance.now();
  readonly #startedAt = new Date().toISOString();
  readonly #seed: number;

  constructor(api: CheckApi, lab: Lab, options: Omit<TestOptions, 'cleanup' | 'keep'>, projectId: string) {
    this.#api = api;
    this.#lab = lab;
    this.#options = options;
    this.#projectId = projectId;
    this.#seed = options.seed ?? lab.test.seed ?? chooseSeed();
  }

  async run({ starts = true } = {}): Promise<TestReport> {
    const { signal, base } = this.#options;
    const site = await LabSite.open({
      api: this.#api,
      projectId: this.#projectId,
      settings: this.#lab.test.nodes,
      platforms: await Platforms.load(),
      base,
      now: () => performance.now() - this.#start,
    });
    const seedOf = (link: Link) => linkSeed(this.#seed, site.nameOf(link));
    try {
      await checkSteps(site, this.#lab.checks);
      if (!this.#options.keepsLinks) await seedLinks(site, seedOf);
      if (starts) this.#options.onNote?.(`Starting ${site.nodes.length} nodes`);
      const ready = starts ? await startNodes(site, signal) : [];
      const topology = pictureOf(site);
      if (ready.some(({ isReady }) => !isReady)) return this.#report(site, { ready, topology, steps: [], certificate: undefined });
      const checked = await this.#check(site, seedOf);
      return this.#report(site, { ready, topology, ...checked });
    } finally {
      site.close();
    }
  }

  async #check(site: LabSite, seedOf: (link: Link) => number): Promise<Pick<TestReport, 'steps' | 'certificate'>> {
    const { signal, onStep, onNote, onBegin } = this.#options;
    const watch = new FidelityWatch(site);
    try {
      await watch.begin();
      onBegin?.();
      onNote?.(`Running ${this.#lab.checks.length} checks`);
      const { seed = this.#lab.test.seed } = this.#options;
      const chances = chancesOf(this.#lab, seed !== undefined);
      const options = { site, watch, seedOf, seed: this.#seed, signal, chances, ...(onStep && { onStep }) };
      const steps = await new CheckRunner(options).run(this.#lab.checks);
      signal.throwIfAborted();
      return { steps, certificate: certify(await watch.end(), readFidelity(this.#lab.test.fidelity)) };
    } finally {
      watch.stop();
    }
  }

  #report(site: LabSite, found: Pick<TestReport, 'ready' | 'steps' | 'certificate' | 'topology'>): TestReport {
    const report = {
      lab: this.#lab.name,
      seed: this.#seed,
      startedAt: this.#startedAt,
      durationMs: Math.round(performance.now() - this.#start),
      failure: undefined,
      consoles: site.dialogues,
      ...found,
    };
    return { ...report, verdict: verdictOf(report) };
  }
}

/** Starts the nodes and waits for the ones that could be started. */
async function startNodes(site: LabSite, signal: AbortSignal): Promise<ReadyNode[]> {
  const failed = new Map<string, ReadyNode>();
  await bounded(site.nodes, async ({ name, node_id }) => {
    signal.throwIfAborted();
    try {
      await site.request<Node>('POST', `/nodes/${node_id}/start`, {});
    } catch (error) {
      signal.throwIfAborted();
      failed.set(name, {
        node: name,
        isReady: false,
        text: `${name} could not be started: ${(error as Error).message}`,
        durationMs: 0,
      });
    }
  });
  if (failed.size > 0) return [...failed.values()];
  return waitReady(
    site,
    site.nodes.map(({ name }) => name),
    signal,
  );
}

function pictureOf(site: LabSite): TopologyPicture {
  const { nodes, links } = site;
  const indexOf = (id: string | undefined) => nodes.findIndex(({ node_id }) => node_id === id);
  const textOf = ({ filters }: Link) =>
    Object.entries(filters)
      .filter(([type]) => type !== 'seed')
      .map(([type, values]) => `${type} ${values?.join(' ')}`)
      .join(', ');
  return {
    nodes: nodes.map(({ name, node_type, x, y }) => ({ name, kind: node_type, x, y })),
    links: links.map((link) => ({
      ends: [indexOf(link.nodes[0]?.node_id), indexOf(link.nodes[1]?.node_id)],
      text: textOf(link),
    })),
  };
}

/**
 * Finds mistakes in checks that only the created lab reveals, before a node is started. @throws SiteError, NoCommandError,
 * ReplayError
 */
async function checkSteps(site: LabSite, steps: readonly CheckStep[]): Promise<void> {
  for (const { what, node = '', by } of steps) {
    if ('link' in what) site.link(what.link);
    if (isGroup(what)) await checkSteps(site, what.steps);
    else if (isProbe(what)) {
      const platform = site.platform(node, by);
      if (by === 'ssh') await site.checkSsh(node);
      if (what.verb !== 'run') commandOf(what, platform);
      if (what.verb === 'iperf') commandOf(what, site.platform(what.server, site.has(what.server, by) ? by : 'console'));
    } else if (what.verb === 'config') site.platform(node);
    else if (what.verb === 'traffic') await checkTraffic(site, what);
    else if ('target' in what) site.node(what.target);
  }
}

async function checkTraffic(site: LabSite, { from, to, packets }: TrafficRun): Promise<void> {
  const [one, other] = [from, to].map(({ at }) => site.node(at));
  if (one?.compute_id !== other?.compute_id) throw new SiteError(`traffic from ${from.at} to ${to.at}: they are on two computes`);
  if (packets.how === 'replay') await readReplay(site.base, packets);
}
