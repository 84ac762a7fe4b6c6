/** A project of a hundred PCs: made, started, and each pings its neighbour. */
import { Console } from './console.ts';
import { ms, type Outcome, round } from './outcome.ts';
import { pingFromVpcs } from './ping.ts';
import type { Session } from './session.ts';
import type { Node } from './topology.ts';

export const pcCount = 100;
/** PCs on a switch. */
const perSwitch = 20;
const promptLimitMs = 60_000;

const addressOf = (index: number) => `10.0.8.${index + 1}`;

export async function hundredPcs(session: Session): Promise<Outcome> {
  const { api } = session;
  const { project_id } = await api.post<{ project_id: string }>('/projects', { name: `${pcCount} PCs`, auto_close: false });
  const path = `/projects/${project_id}`;
  const began = performance.now();
  const { nodes } = await api.post<{ nodes: Node[] }>(`${path}/bulk`, drawing());
  const made = performance.now();
  await api.post(`${path}/nodes/start`);
  const started = performance.now();
  const pcs = nodes.filter(({ name }) => name.startsWith('PC'));
  const consoles = await consolesOf(pcs);
  const prompted = performance.now();
  const pings = consoles.map((console, index) => pingFromVpcs(console, addressOf((index + 1) % pcCount), 1));
  const lost = (await Promise.all(pings)).map(({ lossPercent }) => lossPercent);
  const pinged = performance.now();
  for (const console of consoles) console.close();
  await api.post(`${path}/close`);
  const answered = lost.filter((percent) => percent === 0).length;
  const [madeMs, startedMs, pingedMs] = [made - began, started - made, pinged - prompted];
  return {
    expected: 'every PC pings its neighbour',
    measured: `${answered} of ${pcs.length}; made in ${ms(madeMs)}, started in ${ms(startedMs)}`,
    good: answered === pcCount,
    figures: { answered, madeMs: round(madeMs), startedMs: round(startedMs), pingedMs: round(pingedMs) },
  };
}

/** A request of the bulk route: the PCs on switches that form a chain. */
function drawing() {
  const switches = Array.from({ length: pcCount / perSwitch }, (_, index) => `S${index}`);
  const pcs = Array.from({ length: pcCount }, (_, index) => index);
  const ports = Array.from({ length: perSwitch + 2 }, (_, port) => ({
    name: `Ethernet${port}`,
    port_number: port,
    type: 'access',
    vlan: 1,
  }));
  const end = (ref: string, port_number = 0) => ({ ref, adapter_number: 0, port_number });
  return {
    nodes: [
      ...switches.map((name, index) => ({
        ...{ ref: name, name, node_type: 'ethernet_switch', compute_id: 'local' },
        ...{ x: 220 * index, y: 0, properties: { ports_mapping: ports } },
      })),
      ...pcs.map((index) => ({
        ...{ ref: `PC${index}`, name: `PC${index + 1}`, node_type: 'vpcs', compute_id: 'local' },
        ...{ x: 220 * Math.floor(index / perSwitch) + 50 * (index % 4) - 75, y: 80 + 60 * Math.floor((index % perSwitch) / 4) },
        properties: { startup_script: `ip ${addressOf(index)}/24\n` },
      })),
    ],
    links: [
      ...pcs.map((index) => ({ nodes: [end(`PC${index}`), end(`S${Math.floor(index / perSwitch)}`, index % perSwitch)] })),
      ...switches.slice(1).map((name, index) => ({ nodes: [end(`S${index}`, perSwitch), end(name, perSwitch + 1)] })),
    ],
  };
}

/** Opens the consoles, and waits for the prompts of all: a neighbour that still checks its address answers no ping. */
function consolesOf(pcs: readonly Node[]): Promise<Console[]> {
  return Promise.all(
    pcs.map(async (pc) => {
      const console = await Console.open(pc.console);
      console.send('\r\n');
      await console.expect(/> $/, promptLimitMs);
      return console;
    }),
  );
}
