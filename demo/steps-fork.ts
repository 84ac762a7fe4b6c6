/** A running lab is forked: a copy continues with the memory of its machines. */

import { Console } from './console.ts';
import { type Outcome, round, seconds } from './outcome.ts';
import { ping } from './ping.ts';
import type { Session } from './session.ts';
import { addresses, type Node } from './topology.ts';

const limitMs = 60_000;

export async function fork(session: Session): Promise<Outcome> {
  const { api, topology, consoles } = session;
  // The routers boot on all processors.
  await session.routersBooted.promise;
  await consoles.vm1.run('echo before the fork > /tmp/note');
  const began = performance.now();
  const [copy] = await api.post<{ project_id: string }[]>(`${topology.path}/fork`, { name: 'Demo fork' });
  const path = `/projects/${copy?.project_id}`;
  const nodes = await api.get<Node[]>(`${path}/nodes`);
  const console = await Console.open(nodes.find(({ name }) => name === 'VM1')?.console ?? 0);
  try {
    const remembers = /^before the fork\r?$/m.test(await console.run('cat /tmp/note', limitMs));
    const answersMs = performance.now() - began;
    const echoes = { count: 5, intervalMs: 200 };
    const [forked, parent] = await Promise.all([ping(console, addresses.vm2, echoes), ping(consoles.vm1, addresses.vm2, echoes)]);
    return {
      expected: 'a copy continues, and so does the lab',
      measured: `VM1 ${remembers ? 'answers' : 'FORGOT'} after ${seconds(answersMs)}; ${forked.lossPercent} % and ${parent.lossPercent} % lost`,
      good: remembers && forked.lossPercent === 0 && parent.lossPercent === 0,
      figures: { answersMs: round(answersMs), lossPercentFork: forked.lossPercent, lossPercentParent: parent.lossPercent },
    };
  } finally {
    console.close();
    await api.post(`${path}/close`);
  }
}
