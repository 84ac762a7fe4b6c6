/** A running PC as the compute sees it: the fabric has it, the record has what it is made with again. */
import { isDeepStrictEqual } from 'node:util';
import { consoleLine, type PcReport, type PcSettings } from '../../fabric/protocol.ts';
import type { Emulator, Ending, NodeView } from '../driver.ts';
import type { Host } from '../host/host.ts';
import { discardState } from './saved-state.ts';

/** The settings are those that the PC has now: a fabric that was killed has it again with them. */
export interface PcRecord extends Record<string, unknown> {
  readonly macId: number;
  readonly settings: PcSettings;
}

export interface RunningPc {
  readonly macId: number;
  readonly report: PcReport;
}

/** `isRestored`: it continues from a file in its folder, which is removed once it does. */
export function pcEmulator(
  { pcs, log }: Host,
  { nodeId, name, directory }: NodeView,
  { macId, report }: RunningPc,
  { isRestored = false } = {},
): Emulator {
  let { settings } = report;
  const ended = Promise.withResolvers<Ending>();
  const listeners: (() => void)[] = [];
  const remove = () => pcs.removePc(nodeId);
  const unwatch = pcs.onPc(nodeId, (now) => {
    if (now.end) {
      unwatch();
      // The fabric lists an ended PC until it is removed.
      remove().catch((error) => log('warning', `node ${name}: ${error}`));
      ended.resolve(endingOf(now));
    } else if (!isDeepStrictEqual(now.settings, settings)) {
      settings = now.settings;
      for (const listener of listeners) listener();
    }
  });
  return {
    get record(): PcRecord {
      return { macId, settings };
    },
    // No program runs: it says which number the MAC address has, for a node whose folder is lost.
    commandLine: `vpcs -m ${macId}`,
    ended: ended.promise,
    state: 'started',
    onState: () => {},
    onRecord: (listener) => void listeners.push(listener),
    suspend: async () => {},
    resume: async () => {},
    ...(isRestored && { runRestored: () => discardState(directory) }),
    reset: async () => false,
    async stop() {
      unwatch();
      await remove();
      ended.resolve({ how: 'stopped', reason: 'it was stopped' });
    },
    port: (_adapter, port) => (port === 0 ? { type: 'pc', pc: nodeId } : undefined),
    setCarrier: async () => {},
    console: () => ({ type: 'unix', path: pcs.socketPath, greeting: consoleLine(nodeId) }),
    async saveState() {
      const state = await pcs.pcState(nodeId);
      if (state === null) throw new Error('the PC has ended');
      return state;
    },
    changed: async () => {},
    release: unwatch,
  };
}

export function endingOf({ end }: PcReport): Ending {
  if (end?.kind === 'failed') return { how: 'failed', reason: `the PC has failed: ${end.message}` };
  return { how: 'exited', reason: 'quit was typed at its console' };
}
