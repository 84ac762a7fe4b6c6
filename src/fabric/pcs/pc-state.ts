/** The whole state of a PC as JSON, and back. */

import { running } from './file-commands.ts';
import type { PcHost } from './host.ts';
import { checking, obtaining, soliciting } from './ip-commands.ts';
import type { Packet } from './packet.ts';
import type { JobState, PcSettings, PcState } from './pc-shapes.ts';
import { pinging } from './ping-command.ts';
import { inSession } from './rlogin-command.ts';
import type { PcShell } from './shell.ts';
import { sleeping } from './sleep-command.ts';
import { tracing } from './trace-command.ts';

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const bytesOfHex = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'));
const withHex = <T extends { readonly payload: Uint8Array }>(of: T) => ({ ...of, payload: hexOf(of.payload) });
const withBytes = <T extends { readonly payload: string }>(of: T) => ({ ...of, payload: bytesOfHex(of.payload) });

export function readState(settings: PcSettings, host: PcHost, shell: PcShell): PcState {
  const { entries, pending } = host.neighbours.state();
  const { phase, count, id, offered, server, answer } = host.dhcp;
  // Probes end with this PC: the requester is asked again.
  const timers = host.timers.remaining().filter(({ name }) => !name.startsWith('task probe'));
  const state: PcState = {
    version: 1,
    mac: host.mac,
    settings,
    neighbours: {
      entries,
      pending: pending.map((each) => ({
        ...each,
        packets: each.packets.map(({ src, dst, protocol, ttl, payload }) => withHex({ src, dst, protocol, ttl, payload })),
      })),
    },
    pathMtus: host.pathMtus.state(),
    fragments: host.reassembly.state().map((each) => ({ ...each, parts: each.parts.map(withHex) })),
    connections: host.tcp.connections().map((each) => ({ ...each, buffer: hexOf(each.buffer) })),
    dhcp: { phase, count, id, offered, server, answer } as PcState['dhcp'],
    tries: { ...host.discovery.tries },
    usedPorts: [...host.usedPorts.list()],
    shell: shell.state(),
    timers,
  };
  // Members that are undefined go, as they would in a file.
  return JSON.parse(JSON.stringify(state)) as PcState;
}

export function restoreParts(state: PcState, host: PcHost, shell: PcShell): void {
  for (const entry of state.neighbours.entries) host.neighbours.restoreEntry(entry);
  for (const { address, requests, packets } of state.neighbours.pending)
    host.neighbours.restorePending(
      address,
      requests,
      packets.map((packet): Packet => withBytes(packet)),
    );
  for (const entry of state.pathMtus) host.pathMtus.restore(entry);
  for (const { parts, ...rest } of state.fragments) host.reassembly.restore({ ...rest, parts: parts.map(withBytes) });
  for (const each of state.connections) host.tcp.restore({ ...each, buffer: bytesOfHex(each.buffer) });
  const { settings, dhcp } = state;
  Object.assign(host.dhcp, dhcp);
  host.dhcp.leasedAt = host.timers.now() - (settings.lease?.ageMs ?? 0);
  host.discovery.tries = { ...state.tries };
  for (const port of state.usedPorts.toReversed()) host.usedPorts.add(port);
  shell.restore(state.shell);
  for (const { name, ms } of state.timers) host.timers.set(name, ms);
  if (state.shell.job) restoreJob(shell, state.shell.job);
}

function restoreJob(shell: PcShell, job: JobState): void {
  if (job.kind === 'ping') pinging(shell, job.spec, job.position);
  else if (job.kind === 'trace') tracing(shell, job.spec, job.position);
  else if (job.kind === 'sleep') sleeping(shell);
  else if (job.kind === 'address') checking(shell, job.setting, job.left);
  else if (job.kind === 'dhcp') obtaining(shell, { ...job, isRestored: true });
  else if (job.kind === 'auto') soliciting(shell, job.asked);
  else if (job.kind === 'rlogin') inSession(shell, job, job.connection);
  else running(shell, job.kind, job.name);
}
