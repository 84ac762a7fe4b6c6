/** The first steps: a server, a project, machines with a working network. Limits are wide: an emulated processor on a busy machine is slow. */
import { ms, type Outcome, round, seconds } from './outcome.ts';
import { ping, pingFromVpcs } from './ping.ts';
import type { Session } from './session.ts';
import { addresses, buildTopology } from './topology.ts';

const bootLimitMs = 120_000;
/** Baseline of later pings. */
export const manyPings = { count: 20, intervalMs: 50 };

export async function startServer(session: Session): Promise<Outcome> {
  const began = performance.now();
  await session.startServer();
  const { version } = await session.api.get<{ version: string }>('/version');
  const ms = performance.now() - began;
  return { expected: 'it responds', measured: `after ${seconds(ms)}`, good: true, figures: { ms: round(ms), version } };
}

export async function makeProject(session: Session): Promise<Outcome> {
  const began = performance.now();
  session.topology = await buildTopology(session.api, session.guest);
  const ms = performance.now() - began;
  return { expected: '3 nodes, 2 links', measured: `in ${Math.round(ms)} ms`, good: true, figures: { ms: round(ms) } };
}

export async function bootNodes(session: Session): Promise<Outcome> {
  const { api, topology } = session;
  const began = performance.now();
  await api.post(`${topology.path}/nodes/start`);
  const { vm1, vm2, pc } = await session.openConsoles();
  pc.send('\r\n');
  await Promise.all([
    ...[vm1, vm2].map((console) => console.expect(/GUEST READY.*# $/s, bootLimitMs)),
    pc.expect(/> $/, bootLimitMs),
  ]);
  const ms = performance.now() - began;
  return { expected: 'three prompts', measured: `after ${seconds(ms)}`, good: true, figures: { ms: round(ms) } };
}

export async function pingPlain(session: Session): Promise<Outcome> {
  const { vm1 } = session.consoles;
  await ping(vm1, addresses.vm2, { count: 2, intervalMs: 200 });
  const { lossPercent, medianMs = Number.NaN, quickestMs = Number.NaN } = await ping(vm1, addresses.vm2, manyPings);
  session.plainMs = quickestMs;
  const measured = `${lossPercent} % lost, ${ms(medianMs)}`;
  return { expected: 'none lost', measured, good: lossPercent === 0, figures: { lossPercent, medianMs, quickestMs } };
}

export async function pingThroughVm(session: Session): Promise<Outcome> {
  const { vm1, vm2, pc } = session.consoles;
  await vm2.run('echo 1 > /proc/sys/net/ipv4/ip_forward');
  await vm1.run(`ip route add ${addresses.pc}/32 via ${addresses.vm2}`);
  pc.send(`ip ${addresses.pc}/24 ${addresses.vm2ToPc}\r\n`);
  await pc.expect(/(?:PC1|VPCS) : .*> $/s, 20_000);
  await pingFromVpcs(pc, addresses.vm1, 2);
  const { lossPercent, medianMs = Number.NaN } = await pingFromVpcs(pc, addresses.vm1, 3);
  return {
    expected: 'none lost',
    measured: `${lossPercent} % lost, ${ms(medianMs)}`,
    good: lossPercent === 0,
    figures: { lossPercent, medianMs },
  };
}
