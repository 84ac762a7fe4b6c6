/** Random rounds of a lab over hosts: a host is cut off; programs are killed. After each, the lab is complete again. */
import assert from 'node:assert/strict';
import { setTimeout as pass } from 'node:timers/promises';
import type { Chance } from '../durability/random.ts';
import { type ClusterLab, fabricOf, guardOf, serverOf } from './cluster-lab.ts';
import { killProcesses } from './leftovers.ts';

/** Length of leases in these labs. */
const leaseMs = 5_000;

/** A host with a slice loses its cable, or only its way to the controller, for up to four times T: after three it is lost. */
export async function partition(lab: ClusterLab, chance: Chance, round: number): Promise<void> {
  const { network } = lab.hosts;
  const host = await lab.hostOf(chance.pick(lab.slices) ?? '');
  const isWhole = chance.next() < 0.6;
  const set = (isCut: boolean) => (isWhole ? network.cut(host, isCut) : network.cutFromHere(host, isCut));
  await pass(chance.between(0, leaseMs / 2));
  const ms = chance.between(500, 4 * leaseMs);
  console.log(`round ${round}: ${lab.hosts.names[host]} loses ${isWhole ? 'its cable' : 'the controller'} for ${ms} ms`);
  await set(true);
  try {
    await pass(ms);
  } finally {
    await set(false);
  }
  await lab.settle(`the lab after partition ${round}`);
}

/** Finds its victim first, and answers what kills it. */
type Victim = () => Promise<() => Promise<void>>;

/** SIGKILL to one or two of: controller, server, fabric or guard of a slice, programs of the engine, a host. */
export async function kill(lab: ClusterLab, chance: Chance, round: number): Promise<void> {
  const victims = victimsOf(lab, chance);
  const names = Object.keys(victims);
  // Victims in turn, so that few rounds meet each of them; now and then a second one at the same time.
  const chosen = new Set([names[round % names.length] ?? '', ...(chance.next() < 0.3 ? [chance.pick(names) ?? ''] : [])]);
  const what = [...chosen].join(' and ');
  console.log(`round ${round}: ${what}`);
  const kills = await Promise.all(Array.from(chosen, (name) => victims[name]?.()));
  await Promise.all(kills.map((one) => one?.()));
  await lab.settle(`the lab after kill ${round}: ${what}`);
}

function victimsOf(lab: ClusterLab, chance: Chance): Readonly<Record<string, Victim>> {
  const { hosts, server } = lab;
  const ofSlice = (pattern: RegExp) => async () => {
    const slice = chance.pick(lab.slices) ?? '';
    const found = (await lab.processes(slice)).filter(({ commandLine }) => pattern.test(commandLine));
    assert.ok(found.length > 0, `a process of a slice: ${pattern}`);
    return async () => killProcesses(found);
  };
  return {
    controller: async () => async () => {
      await server.kill9();
      await server.restart();
    },
    'server of a slice': ofSlice(serverOf),
    ...Object.fromEntries(Object.entries(hosts.daemons).map(([name, restart]) => [name, async () => restart])),
    'fabric of a slice': ofSlice(fabricOf),
    'guard of a slice': ofSlice(guardOf),
    host: async () => {
      const host = await lab.hostOf(chance.pick(lab.slices) ?? '');
      const ms = chance.between(0, 2 * leaseMs);
      return async () => {
        await hosts.powerOff(host);
        await pass(ms);
        await hosts.powerOn(host);
      };
    },
  };
}
