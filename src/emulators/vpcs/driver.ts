/** The verbs of PCs. A PC is a small host inside the fabric: a start makes it there, and a server that starts again finds it there. */
import { mkdir, readdir } from 'node:fs/promises';
import { fault } from '../../api/faults.ts';
import type { PcSpec } from '../../fabric/protocol.ts';
import { savedMemoryName } from '../../schema/folders.ts';
import type { Driver, Emulator, NodeView } from '../driver.ts';
import type { Host } from '../host/host.ts';
import { macNoteName, vpcsKind } from './kind.ts';
import { MacIds, macOf } from './mac-id.ts';
import { endingOf, type PcRecord, pcEmulator, type RunningPc } from './pc-emulator.ts';
import { probeRoute } from './probe-route.ts';
import { adoptProgram, isProgram } from './program.ts';
import { checkedState, checkState, findState } from './saved-state.ts';
import { readScript, renameScript, scriptName, writeScript } from './script.ts';

/** The name in the prompt of a PC whose script sets no other one. */
const firstName = 'VPCS';

export function vpcsDriver(host: Host): Driver {
  const macIds = new MacIds();
  return {
    kind: vpcsKind,
    create: async () => ({}),
    update: async (current) => current,
    present: () => ({}),
    start: (node, _options, saved) => startPc(host, node, { macIds, saved }),
    adopt: (node, record) => (isProgram(record) ? adoptProgram(host, node, record) : adoptPc(host, node, record as PcRecord)),
    memory: { check: checkState, checkState: (state, name) => void checkedState(state, name) },
    routes: (nodes) => [probeRoute(host, nodes)],
    renamed: (directory, _from, to) => renameScript(directory, to),
    async populate(directory, input, name) {
      if (typeof input.startup_script === 'string') await writeScript(directory, input.startup_script, name);
    },
  };
}

async function startPc(host: Host, node: NodeView, { macIds, saved }: { macIds: MacIds; saved: unknown }): Promise<Emulator> {
  const { nodeId, directory, name, numbers, warn } = node;
  const listing = namesIn(directory);
  const numbering = async () => {
    const isNew = !(await listing).has(macNoteName);
    return macIds.of(directory, { from: numbers.from, last: numbers.lastCommandLine, isNew });
  };
  const [{ id: macId, noted }, script, file] = await Promise.all([
    numbering(),
    readScript(directory).catch((error: Error) => {
      warn(`${name}: ${scriptName} is not run: ${error.message}`);
      return undefined;
    }),
    listing.then((names) => (names.has(savedMemoryName) ? findState(directory, name) : undefined)),
  ]);
  const state = saved === undefined ? file : checkedState(saved, name);
  const more = { ...(script && { script }), ...(state && { state }) };
  const { end, running } = await makePc(host, node, { macId, more });
  if (end !== undefined) throw fault(state ? 'memory_refused' : 'vpcs_failed', { name, reason: end });
  await noted.catch(async (cause: Error) => {
    await host.pcs.removePc(nodeId);
    throw fault('storage_failed', { reason: cause.message }, { cause });
  });
  return pcEmulator(host, node, running, { isRestored: Boolean(file) });
}

/** Returns the names in the folder of a PC, which is made unless it exists. @throws storage_failed */
async function namesIn(directory: string): Promise<ReadonlySet<string>> {
  try {
    return new Set(await readdir(directory).catch(() => mkdir(directory, { recursive: true }).then(() => readdir(directory))));
  } catch (cause) {
    throw fault('storage_failed', { reason: (cause as Error).message }, { cause });
  }
}

/** Undefined when it has ended while the server was away. */
async function adoptPc(host: Host, node: NodeView, { macId, settings }: PcRecord): Promise<Emulator | undefined> {
  const { end, running } = await makePc(host, node, { macId, more: { settings } });
  if (end === undefined) return pcEmulator(host, node, running);
  host.log('info', `node ${node.name}: ${end}`);
  return undefined;
}

/** A PC that exists stays as it is. `end`: why it has ended; then nothing of it is left. */
async function makePc(
  { pcs }: Host,
  { nodeId, directory }: NodeView,
  { macId, more }: { readonly macId: number; readonly more: Partial<PcSpec> },
): Promise<{ running: RunningPc; end?: string }> {
  const report = await pcs.applyPc({ id: nodeId, name: firstName, mac: macOf(macId), directory, ...more });
  const running = { macId, report };
  if (!report.end) return { running };
  await pcs.removePc(nodeId);
  return { running, end: endingOf(report).reason };
}
