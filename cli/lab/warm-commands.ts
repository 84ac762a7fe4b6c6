/** Commands for the memory of a running lab: freeze, fork, rewind. */
import { setTimeout as delay } from 'node:timers/promises';
import { LabError, suggestion } from '../../lab/file/lab-error.ts';
import type { Node } from '../../src/schema/node.ts';
import type { Project } from '../../src/schema/project.ts';
import type { Snapshot } from '../../src/schema/snapshot.ts';
import { type CliCall, type CliCommand, CliUsageError, printList, projectOption, serverOptions, textOption } from '../command.ts';
import { projectOf } from './lab-source.ts';

const options = { ...projectOption, ...serverOptions };
const pollMs = 200;

const freezeCommand: CliCommand = {
  name: 'lab freeze',
  args: '[SNAPSHOT]',
  summary: 'Take a snapshot with the memory of running machines, and wait until it is complete',
  options,
  examples: [
    { line: 'patchbay lab freeze booted', does: 'Rewind to it, or fork it, by its name' },
    { line: 'patchbay lab freeze -p ring', does: 'Named after the time' },
  ],
  run: async (call) => {
    const { out, api, args, signal } = call;
    const path = await snapshotsPath(call);
    const name = args[0] ?? `frozen ${new Date().toISOString().slice(0, 19).replaceAll(':', '.').replace('T', ' ')}`;
    const { snapshot_id } = await api.json<Snapshot>('POST', path, { name, memory: true });
    const snapshot = await completed({ call, path, snapshotId: snapshot_id, signal });
    if (out.isJson) out.json(snapshot);
    else printFrozen(call, snapshot);
    return snapshot.memory?.status === 'ready' ? 0 : 1;
  },
};

async function completed({
  call,
  path,
  snapshotId,
  signal,
}: {
  call: CliCall;
  path: string;
  snapshotId: string;
  signal: AbortSignal;
}): Promise<Snapshot> {
  for (;;) {
    const all = await call.api.json<Snapshot[]>('GET', path);
    const snapshot = all.find(({ snapshot_id }) => snapshot_id === snapshotId);
    if (!snapshot) throw new LabError('the snapshot was deleted meanwhile');
    if (snapshot.memory?.status !== 'saving') return snapshot;
    await delay(pollMs, undefined, { signal });
  }
}

function printFrozen({ out }: CliCall, { name, memory }: Snapshot): void {
  if (memory?.status !== 'ready') {
    out.note(`${name}: the memory could not be saved; its files were. The server's log has the reason`);
    return;
  }
  const mebibytes = Math.ceil(memory.bytes / 2 ** 20);
  out.print(`${name}: ${memory.nodes.length} machines, ${mebibytes} MiB, paused ${memory.paused_ms} ms`);
  for (const { name: node, reason } of memory.cold) out.note(`${node} starts anew: ${reason}`);
}

const forkCommand: CliCommand = {
  name: 'lab fork',
  args: '[SNAPSHOT]',
  summary: 'Make copies of a lab in which its machines continue: of a snapshot, or of the lab as it is now',
  options: {
    count: { value: 'COUNT', short: 'n', description: 'How many (default 1, at most 50)' },
    name: { value: 'NAME', description: 'Name of the copy; of several, the first free ones with a number' },
    uplinks: { description: 'Keep links to NAT and cloud nodes, which are suspended otherwise' },
    ...options,
  },
  examples: [
    { line: 'patchbay lab fork', does: 'A copy of the lab as it is now' },
    { line: 'patchbay lab fork booted -n 20 --name student', does: 'Twenty copies of a snapshot' },
  ],
  run: async (call) => {
    const { api, args } = call;
    const { project_id } = await projectOf(call);
    const project = `/v2/projects/${project_id}`;
    const name = textOption(call, 'name');
    const body = { count: countOf(textOption(call, 'count')), uplinks: call.options.uplinks === true, ...(name && { name }) };
    const from =
      args[0] === undefined ? project : `${project}/snapshots/${findSnapshot(await snapshotsOf(call), args[0]).snapshot_id}`;
    const forks = await api.json<Project[]>('POST', `${from}/fork`, body);
    printList(call, forks, ['fork', 'id'], (fork) => [fork.name ?? '', fork.project_id]);
    return 0;
  },
};

const rewindCommand: CliCommand = {
  name: 'lab rewind',
  args: 'SNAPSHOT',
  summary:
    'Bring a lab to the state of a snapshot; machines continue where its memory has them. The present is kept: undo returns to it',
  options: {
    ...options,
    'give-up-present': { description: 'Keep nothing for undo, where the disk has no room for it' },
  },
  examples: [{ line: 'patchbay lab rewind booted', does: 'Restore the state of the freeze' }],
  run: async (call) => {
    const { out, api, args, options: given } = call;
    if (args[0] === undefined) throw new CliUsageError('which snapshot? `patchbay lab freeze NAME` takes one');
    const path = await snapshotsPath(call);
    const { snapshot_id } = findSnapshot(await snapshotsOf(call), args[0]);
    const project = await api.json<Project>('POST', `${path}/${snapshot_id}/restore`, {
      ...(given['give-up-present'] === true && { keep_present: false }),
    });
    const nodes = await api.json<Node[]>('GET', `/v2/projects/${project.project_id}/nodes`);
    if (out.isJson) out.json({ project, nodes });
    else
      out.table(
        ['node', 'status'],
        nodes.map(({ name, status }) => [name, status ?? '']),
      );
    return 0;
  },
};

function countOf(text = '1'): number {
  if (!/^\d{1,2}$/.test(text)) throw new CliUsageError(`"${text}" is not a number of copies: give 1 to 50`);
  return Number(text);
}

async function snapshotsPath(call: CliCall): Promise<string> {
  return `/v2/projects/${(await projectOf(call)).project_id}/snapshots`;
}

async function snapshotsOf(call: CliCall): Promise<Snapshot[]> {
  return call.api.json<Snapshot[]>('GET', await snapshotsPath(call));
}

/** Finds a snapshot by name or id. @throws LabError */
export function findSnapshot(all: readonly Snapshot[], word: string): Snapshot {
  const found = all.find(({ name, snapshot_id }) => name === word || snapshot_id === word);
  if (found) return found;
  throw new LabError(
    `there is no snapshot "${word}"${suggestion(
      word,
      all.map(({ name }) => name),
    )}`,
  );
}

export const warmCommands = [freezeCommand, forkCommand, rewindCommand];
