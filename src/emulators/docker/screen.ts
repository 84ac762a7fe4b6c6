/**
 * The screen of a container: an X server of its own (Xtigervnc) on this host, which serves its picture on a Unix socket.
 *
 * Theory of operation. In a mount namespace of its own the X server sees a folder of the node in place of `/tmp`, where it makes its
 * socket. The container is shown the folder of that socket, and no other process can reach it: so it needs no access control, conflicts with
 * no other X server, and its display has the same number in every container. A container need not be made anew for another X server. The
 * socket of the picture is in the same folder, beside the one that the container is shown.
 */
import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fault } from '../../api/faults.ts';
import { type Child, spawnChild } from '../../process/child.ts';
import { whenListening } from '../../process/listening.ts';
import type { NodeView } from '../driver.ts';
import { findProgram } from '../host/find-program.ts';
import type { Host } from '../host/host.ts';
import { commandAs, findRunAs, own } from '../host/run-as.ts';
import { asDocker } from './properties.ts';

/** Display name that programs in the container look for. @see X(7), DISPLAY NAMES */
export const display = ':0';
export const socketsInside = '/tmp/.X11-unix';

/** The second is its name where no other Xvnc is packaged. */
const candidates = ['Xtigervnc', 'Xvnc'];
const pictureName = 'rfb';
/** Path at which the X server sees its VNC socket. */
const pictureInside = `/tmp/${pictureName}`;
const inPlaceOfTmp = 'mount --bind "$0" /tmp && exec "$@"';

/** Folder of the X server's socket on this host; undefined for a node without a screen. */
export function screenSockets({ console, runtimeDirectory }: Pick<NodeView, 'console' | 'runtimeDirectory'>): string | undefined {
  return console.type === 'vnc' && console.port !== null ? join(screenFolder(runtimeDirectory), '.X11-unix') : undefined;
}

function screenFolder(runtimeDirectory: string): string {
  return join(runtimeDirectory, 'screen');
}

/** Where the picture is served, on this host. */
export function pictureSocket({ runtimeDirectory }: Pick<NodeView, 'runtimeDirectory'>): string {
  return join(screenFolder(runtimeDirectory), pictureName);
}

/** Serves when it resolves; undefined for a node without a screen. @throws tool_missing, docker_failed, run_as_failed */
export async function startScreen({ settings }: Host, node: NodeView): Promise<Child | undefined> {
  const sockets = screenSockets(node);
  if (sockets === undefined) return undefined;
  const program = await findServer();
  const runAs = await findRunAs(settings);
  await mkdir(sockets, { recursive: true });
  await chmod(sockets, 0o1777);
  if (runAs) await own(runAs, [screenFolder(node.runtimeDirectory)]);
  const { console_resolution } = asDocker(node.properties);
  const server = commandAs(runAs, program, screenArguments({ name: node.name, resolution: console_resolution }));
  // A user who is not root may mount something only in a namespace of users in which he is.
  const asRoot = process.geteuid?.() === 0 ? [] : ['--user', '--map-root-user'];
  const inside = ['sh', '-c', inPlaceOfTmp, screenFolder(node.runtimeDirectory), server.program, ...server.args];
  const child = await spawnChild({
    program: 'unshare',
    args: [...asRoot, '--mount', '--propagation', 'private', '--', ...inside],
    cwd: node.directory,
    logFile: join(node.directory, screenLog),
    runDirectory: settings.runtimeDirectory,
  });
  const found = await whenListening(child, pictureInside);
  if (found === 'listening') return child;
  const { tail } = found === 'timeout' ? await child.stop({ graceMs: 0 }) : found;
  throw fault('docker_failed', {
    reason: `The screen of ${node.name} (${console_resolution}) did not start: ${causeIn(tail) || 'its X server said nothing'}`,
  });
}

/** Extracts the cause from the X server's log; the lines before name its makers. */
function causeIn(words: string): string {
  return words
    .slice(Math.max(0, words.indexOf('Fatal server error')))
    .replaceAll(/^\(EE\) ?/gm, '')
    .trim();
}

/** File name of the screen's log, in the node's folder. */
export const screenLog = 'vnc.log';

interface ScreenFacts {
  readonly name: string;
  /** Pixels, `WIDTHxHEIGHT`. */
  readonly resolution: string;
}

/** Sources: README.md beside this file. */
export function screenArguments({ name, resolution }: ScreenFacts): string[] {
  return [
    display,
    ...['-geometry', resolution, '-depth', '24'],
    ...['-rfbport', '-1', '-rfbunixpath', pictureInside, '-rfbunixmode', '0600'],
    ...['-SecurityTypes', 'None', '-AlwaysShared', '-UseBlacklist=0', '-desktop', name],
    // Nothing but the socket, which only the container can reach; what is drawn stays when the last program has gone.
    ...['-nolisten', 'tcp', '-nolisten', 'local', '-ac', '-noreset'],
  ];
}

async function findServer(): Promise<string> {
  for (const name of candidates) {
    const path = await findProgram(name);
    if (path !== undefined) return path;
  }
  throw fault('tool_missing', { tool: 'The X server of screens (Xtigervnc)', package: 'tigervnc-standalone-server' });
}
