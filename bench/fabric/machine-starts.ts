/**
 * The start of a machine, from the request to its answer, in turn with the same command line until the greeting of QEMU's monitor, and until
 * QEMU answers a command: its monitor greets while the machine is still being made.
 */
import { spawn } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { processesOf } from '../../test/support/leftovers.ts';
import { Turns } from './figures.ts';
import { ip, kill, MachineSite, near } from './machine-site.ts';

const startsOfRound = 5;
const pollMs = 1;
const tap = 'pbxs';

export async function measureStarts({ isUser, rounds }: { readonly isUser: boolean; readonly rounds: number }): Promise<void> {
  await using site = await MachineSite.open({ isUser });
  site.made.defer(() => ip([`link delete dev ${tap}`]));
  await ip([`tuntap add dev ${tap} mode tap`, `link set ${tap} addrgenmode none up`]);
  const project = await site.project();
  const { node_id } = await site.machine(project, 'a', near);
  const path = `${project.path}/nodes/${node_id}`;
  const start = async () => {
    const began = performance.now();
    await site.client.post(`${path}/start`, {}, 200);
    const ms = performance.now() - began;
    const words = await wordsOf(site, node_id);
    await site.client.post(`${path}/stop`, {}, 200);
    return { ms, words };
  };
  // The first machine makes the namespace of the links.
  await start();
  const turns = new Turns();
  for (let turn = 0; turn < rounds * startsOfRound; turn += 1) {
    const { ms, words } = await start();
    const bare = await spawned(words, site.folder);
    turns.note('start, request to answer', ms);
    turns.note('same command line, until the greeting', bare.greetingMs);
    turns.note('same command line, until an answer', bare.answerMs);
  }
  console.log(turns.table('ms', () => 'same command line, until the greeting', 1));
}

/** The command line of a node's running QEMU. */
async function wordsOf({ server }: MachineSite, nodeId: string): Promise<string[]> {
  const isQemu = ({ commandLine }: { readonly commandLine: string }) => /^\S*qemu-system/.test(commandLine);
  const found = processesOf(server.dataDir, server.runtimeDirectory).find(
    (each) => isQemu(each) && each.commandLine.includes(nodeId),
  );
  if (!found) throw new Error('the machine does not run');
  return (await readFile(`/proc/${found.pid}/cmdline`, 'utf8')).split('\0').slice(0, -1);
}

interface BareStart {
  readonly greetingMs: number;
  readonly answerMs: number;
}

/** Starts QEMU with another TAP interface and its sockets in `folder`. */
async function spawned(words: readonly string[], folder: string): Promise<BareStart> {
  const before = /^socket,id=qmp0,path=([^,]+)/.exec(words.find((word) => word.startsWith('socket,id=qmp0')) ?? '')?.[1] ?? '';
  const [program = '', ...args] = words.map((word) =>
    word.replace(/ifname=\w+/, `ifname=${tap}`).replaceAll(dirname(before), folder),
  );
  const socket = join(folder, basename(before));
  const began = performance.now();
  const child = spawn(program, args, { stdio: 'ignore', detached: true });
  try {
    for (;;) {
      const found = await ask(socket);
      if (found) return { greetingMs: found.greetingAt - began, answerMs: performance.now() - began };
      if (child.exitCode !== null) throw new Error(`QEMU has ended with code ${child.exitCode}`);
      await sleep(pollMs);
    }
  } finally {
    await kill(child);
    await rm(socket, { force: true });
  }
}

/** Waits for the greeting and for the answer to the first command; undefined while no monitor listens. */
function ask(path: string): Promise<{ readonly greetingAt: number } | undefined> {
  return new Promise((settle) => {
    const socket = connect(path);
    const end = (result?: { readonly greetingAt: number }) => {
      socket.destroy();
      settle(result);
    };
    socket.once('data', () => {
      const greetingAt = performance.now();
      socket.once('data', () => end({ greetingAt }));
      socket.write('{"execute": "qmp_capabilities"}\n');
    });
    socket.once('error', () => end());
  });
}
