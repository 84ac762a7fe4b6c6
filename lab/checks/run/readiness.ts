/** Waits until nodes are ready: started, at the prompt of their platform, and as their settings require. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Node } from '../../../src/schema/node.ts';
import { judgeRun, judgeTcp } from '../definition/judges.ts';
import { readDuration } from '../definition/quantities.ts';
import { readAddress } from '../definition/read-steps.ts';
import type { StepWay } from '../definition/step-schema.ts';
import { runProbe } from '../probes/node-probe.ts';
import type { LabSite } from './lab-site.ts';
import { siteOf } from './probe-site.ts';

export interface ReadyNode {
  readonly node: string;
  readonly isReady: boolean;
  /** The awaited state, or the reason why the node is not ready. */
  readonly text: string;
  readonly durationMs: number;
}

const limitDefault = '5m';
/** Pause between two tries, ms: an emulator's console may not accept connections at once. */
const againMs = 500;

/** Waits for all nodes at once. @throws the reason of an aborted signal */
export function waitReady(site: LabSite, names: readonly string[], signal: AbortSignal): Promise<ReadyNode[]> {
  return Promise.all(names.map((name) => waitNode(site, name, signal)));
}

async function waitNode(site: LabSite, node: string, signal: AbortSignal): Promise<ReadyNode> {
  const start = performance.now();
  const within = site.settingsOf(node).ready_within ?? limitDefault;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(readDuration(within)))]);
  const what = wanted(site, node);
  let reason: string | undefined;
  const result = (isReady: boolean, text: string) => ({ node, isReady, text, durationMs: Math.round(performance.now() - start) });
  while (!limit.aborted) {
    try {
      const problem = await what.check(limit);
      if (problem === undefined) return result(true, what.text);
      reason = problem;
    } catch (error) {
      // The last failure before the time limit is more precise.
      if (!limit.aborted || reason === undefined) reason = (error as Error).message;
    }
    await pause(againMs, undefined, { signal: limit }).catch(() => undefined);
  }
  signal.throwIfAborted();
  return result(false, `${node} is not ready within ${within} (${what.text}): ${reason}`);
}

interface Wanted {
  readonly text: string;
  /** Returns the failure; undefined: the check holds. */
  readonly check: (signal: AbortSignal) => Promise<string | undefined>;
}

function wanted(site: LabSite, name: string): Wanted {
  const { ready } = site.settingsOf(name);
  const platform = site.findPlatform(name);
  const isStarted = async () => {
    const { status } = await site.request<Node>('GET', `/nodes/${site.node(name).node_id}`);
    return status === 'started' ? undefined : `it is ${status}`;
  };
  const run = (command: string, by: StepWay = 'console', expect = {}): Wanted => {
    const judge = judgeRun(expect, ['test', 'nodes', name, 'ready', 'expect']);
    const check = async (signal: AbortSignal) => {
      const place = { node: name, by };
      const { problems, evidence } = await site.useShell(place, signal, (shell) =>
        runProbe({ verb: 'run', command, judge }, siteOf(site, place, shell, signal), signal),
      );
      return problems[0] === undefined ? undefined : `${problems[0]}: ${evidence.slice(-200)}`;
    };
    return { text: `the command ${command} succeeds`, check };
  };
  if (typeof ready === 'object' && 'run' in ready) return run(ready.run, ready.by, ready.expect);
  if (typeof ready === 'object') {
    const { from, tcp } = ready;
    const probe = { verb: 'tcp', ...readAddress(tcp, ['test', 'nodes', name, 'ready', 'tcp']), judge: judgeTcp({}) } as const;
    const check = async (signal: AbortSignal) => {
      const place = { node: from, by: 'console' } as const;
      const found = await site.useShell(place, signal, (shell) => runProbe(probe, siteOf(site, place, shell, signal), signal));
      return found.problems[0];
    };
    return { text: `${tcp} accepts connections from ${from}`, check };
  }
  if (ready === 'started' || (platform === undefined && ready === undefined)) return { text: 'it is started', check: isStarted };
  if (platform?.ready !== undefined && ready === undefined) return run(platform.ready);
  const check = async (signal: AbortSignal) => {
    const stopped = await isStarted();
    if (stopped !== undefined) return stopped;
    await site.useConsole(name, signal, (console) => console.enter(signal));
    return undefined;
  };
  return { text: `its console shows a prompt of ${platform?.name ?? 'its platform'}`, check };
}
