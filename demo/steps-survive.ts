/** The server is killed and restarted, and a running project is duplicated. */

import { type Outcome, round, seconds } from './outcome.ts';
import { ping, readPing } from './ping.ts';
import type { Session } from './session.ts';
import { latencyMs } from './steps-impair.ts';
import { addresses, type Link, type Node } from './topology.ts';

/** Duration of the ping without a server. */
const downMs = 1500;
/** Number of the last echo: above those of all earlier pings, and some time after the restart. */
const goesOnUntil = 35;

export async function killServer(session: Session): Promise<Outcome> {
  const { server, consoles } = session;
  consoles.vm1.send(`ping -i 0.1 ${addresses.vm2}\r`);
  await consoles.vm1.expect(/seq=5 /, 20_000);
  await server.kill();
  session.closeConsoles();
  await new Promise((resolve) => setTimeout(resolve, downMs));
  const began = performance.now();
  await session.startServer(server.port);
  const restartMs = performance.now() - began;
  const { vm1 } = await session.openConsoles();
  // The console replays earlier output; new lines are recognised by their number alone.
  for (let number = 0; number < goesOnUntil; ) number = Number(/seq=(\d+) $/.exec(await vm1.expect(/seq=\d+ /, 20_000))?.[1]);
  vm1.send('\x03');
  const { sent, received } = readPing(await vm1.expect(/packets transmitted.*# $/s, 20_000));
  // The last echo may be in flight when the ping ends.
  const lost = Math.max(0, sent - received - 1);
  return {
    expected: 'the ping continues',
    measured: `${lost} of ${sent} lost, server back in ${seconds(restartMs)}`,
    good: lost <= 2,
    figures: { sent, received, lost, restartMs: round(restartMs), withoutServerMs: downMs },
  };
}

export async function checkNodes(session: Session): Promise<Outcome> {
  const { api, topology, consoles } = session;
  const nodes = await api.get<Node[]>(`${topology.path}/nodes`);
  const started = nodes.filter(({ status }) => status === 'started').length;
  const name = /^VM2\r?$/m.test(await consoles.vm2.run('hostname'));
  await session.change({ filters: { latency: [latencyMs] } });
  const slow = await ping(consoles.vm1, addresses.vm2, { count: 3, intervalMs: 200 });
  await session.change({ filters: {} });
  const follows = (slow.medianMs ?? 0) > 2 * latencyMs;
  return {
    expected: 'started; consoles and links work',
    measured: `${started} of ${nodes.length} started, console ${name ? 'works' : 'DEAD'}, latency ${follows ? 'acts' : 'DOES NOT ACT'}`,
    good: started === 3 && name && follows,
    figures: { started, nodes: nodes.length, medianMs: slow.medianMs ?? 'none' },
  };
}

export async function duplicate(session: Session): Promise<Outcome> {
  const { api, topology, consoles } = session;
  const began = performance.now();
  const copy = await api.post<{ project_id: string; status: string }>(`${topology.path}/duplicate`, { name: 'Demo copy' });
  const took = performance.now() - began;
  const [nodes, links] = await Promise.all([
    api.get<Node[]>(`/projects/${copy.project_id}/nodes`),
    api.get<Link[]>(`/projects/${copy.project_id}/links`),
  ]);
  const after = await ping(consoles.vm1, addresses.vm2, { count: 5, intervalMs: 100 });
  return {
    expected: 'closed copy: 3 nodes, 2 links',
    measured: `${copy.status}, ${nodes.length} nodes, ${links.length} links, in ${Math.round(took)} ms; ping continues`,
    good: copy.status === 'closed' && nodes.length === 3 && links.length === 2 && after.lossPercent === 0,
    figures: {
      ms: round(took),
      status: copy.status,
      nodes: nodes.length,
      links: links.length,
      lossPercentAfter: after.lossPercent,
    },
  };
}
