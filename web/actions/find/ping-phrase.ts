/** The commands `ping PC1 PC2`: a PC (VPCS) pings another one, or an address; and `trace PC1 PC2`: a packet is followed between nodes. */
import type { Node } from '../../../src/schema/node.ts';
import type { NodeProbe, NodeProbeAnswer } from '../../../src/schema/pc-probe.ts';
import type { App } from '../../state/app.ts';
import { isPc } from '../../state/pcs.ts';
import type { ProjectState } from '../../state/project.ts';
import { texts } from '../../texts.ts';
import type { Target } from './entries.ts';
import { matching } from './matching.ts';
import { phraseTexts } from './phrase-texts.ts';

const count = 3;
const intervalMs = 200;
const mostTargets = 8;
const isAddress = (text: string) => /^[0-9a-f:.]*[:.][0-9a-f:.]*$/i.test(text);

/** `words`: the PC that pings, and its target. Without a target each other PC is one. */
export function pingPhrases(app: App, project: ProjectState, [from = '', ...more]: readonly string[]): Target[] {
  const nodes = project.nodes.all.value;
  const named = (text: string) => matching(nodes, text, ({ name }) => ({ whole: [name] }));
  const to = more.join(' ');
  const targets = isAddress(to) ? [to] : to === '' ? nodes.filter(isPc) : named(to);
  return named(from)
    .filter((node) => isPc(node) || from !== '')
    .flatMap((node) => targets.filter((target) => target !== node).map((target) => pingOf(app, project, node, target)))
    .slice(0, mostTargets);
}

/** `words`: the two nodes, and the address of the second where it is not known. */
export function tracePhrases(app: App, project: ProjectState, words: readonly string[]): Target[] {
  const nodes = project.nodes.all.value;
  const last = words.at(-1) ?? '';
  const address = words.length > 2 && isAddress(last) ? last : undefined;
  const [from = '', ...rest] = address === undefined ? words : words.slice(0, -1);
  const named = (text: string) => matching(nodes, text, ({ name }) => ({ whole: [name] }));
  const targets = rest.length === 0 ? nodes : named(rest.join(' '));
  return named(from)
    .flatMap((node) => targets.filter((target) => target !== node).map((target) => traceOf(app, project, [node, target], address)))
    .slice(0, mostTargets);
}

function traceOf(app: App, project: ProjectState, [from, to]: readonly [Node, Node], address: string | undefined): Target {
  const idle = from.status === 'started' ? undefined : phraseTexts.notRunning(from.name);
  const shown = address === undefined ? to.name : `${to.name} (${address})`;
  return {
    id: `trace ${from.node_id} ${to.node_id}`,
    label: phraseTexts.trace(from.name, shown),
    hint: idle ?? texts.groups.nodes,
    ...(idle !== undefined && { lacks: idle }),
    icon: 'packets',
    run: () =>
      app.toasts.attempt(async () => {
        const { showTrace } = await import('../../scene/trace/trace-overlay.tsx');
        showTrace(app, project, { from, to, ...(address !== undefined && { address }) });
      }),
  };
}

function pingOf(app: App, project: ProjectState, from: Node, to: Node | string): Target {
  const name = typeof to === 'string' ? to : to.name;
  const pcs = typeof to === 'string' ? [from] : [from, to];
  const other = pcs.find((node) => !isPc(node));
  const idle = pcs.find(({ status }) => status !== 'started');
  const lacks = other ? phraseTexts.onlyPcs(other.name) : idle ? phraseTexts.notRunning(idle.name) : undefined;
  return {
    id: `ping ${from.node_id} ${name}`,
    label: phraseTexts.ping(from.name, name),
    hint: lacks ?? texts.groups.nodes,
    ...(lacks !== undefined && { lacks }),
    icon: 'play',
    run: () => app.toasts.attempt(() => ping(app, project, from, to)),
  };
}

/** @throws ApiError */
async function ping({ api, toasts }: App, { path }: ProjectState, from: Node, to: Node | string): Promise<void> {
  const ask = ({ node_id }: Node, probe: NodeProbe) => api.post<NodeProbeAnswer>(`${path}/nodes/${node_id}/probe`, probe);
  const name = typeof to === 'string' ? to : to.name;
  const address = typeof to === 'string' ? to : addressOf(await ask(to, { type: 'addresses' }));
  if (address === undefined) return toasts.show('error', phraseTexts.noAddress(name));
  const shown = address === name ? name : `${name} (${address})`;
  toasts.show('info', phraseTexts.pinging(from.name, shown));
  const probe: NodeProbe = { type: 'ping', to: address, count, interval_ms: intervalMs };
  const { sent = 0, received = 0, replies = [], failure } = await ask(from, probe);
  const way = phraseTexts.way(from.name, shown);
  if (received > 0) {
    const ms = replies.reduce((sum, reply) => sum + (reply.ms ?? 0), 0) / received;
    return toasts.show('done', phraseTexts.pinged(way, { received, sent, ms }));
  }
  const error = replies.find((reply) => reply.error)?.error;
  toasts.show('error', phraseTexts.notPinged(way, error ?? (failure ? phraseTexts.why[failure] : phraseTexts.unanswered)));
}

/** The IPv4 address, or the one of IPv6 that is not only its link's. */
function addressOf({ addresses = [] }: NodeProbeAnswer): string | undefined {
  const [ip4, ip6] = [/^[\d.]+\//, /^(?!fe80)[0-9a-f:]+\//].map((form) => addresses.find((one) => form.test(one)));
  return (ip4 ?? ip6)?.split('/')[0];
}
