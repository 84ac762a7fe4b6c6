/** Leftovers of a server: processes that carry its marker or name its folders, and sockets. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { runMarker } from '../../src/process/child.ts';
import { readSettings } from '../../src/settings.ts';

/** Folder for sockets of a server, or of a slice. */
export async function runtimeDirectoryOf(dataDir: string, isSlice = false): Promise<string> {
  return (await readSettings({ dataDirectory: dataDir, ...(isSlice && { join: 'http://controller' }) })).runtimeDirectory;
}

export interface LeftProcess {
  readonly pid: number;
  readonly commandLine: string;
}

/**
 * Processes that a server on this data directory started, or that have its path in their command line; this process and zombies
 * are left out. Synchronous, because it is needed when a test process ends.
 */
export function processesOf(dataDir: string, runtimeDirectory: string): LeftProcess[] {
  const found: LeftProcess[] = [];
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    // A zombie has no command line.
    const commandLine = read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim();
    if (commandLine === '') continue;
    // bubblewrap only waits for the program that it confines, and ends with it.
    if (/^\S*\bbwrap /.test(commandLine)) continue;
    const marked = read(`/proc/${pid}/environ`).split('\0').includes(`${runMarker}=${runtimeDirectory}`);
    if (marked || commandLine.includes(`${dataDir}/`) || commandLine.endsWith(dataDir)) found.push({ pid, commandLine });
  }
  return found;
}

/** Processes that have this text in their command line. */
export function processesNamed(text: string): LeftProcess[] {
  return readdirSync('/proc').flatMap((name) => {
    const commandLine = /^\d+$/.test(name) ? read(`/proc/${name}/cmdline`).replaceAll('\0', ' ').trim() : '';
    return commandLine.includes(text) ? [{ pid: Number(name), commandLine }] : [];
  });
}

/** Signals the processes at once; a process that has ended meanwhile is left aside. */
export function killProcesses(processes: readonly LeftProcess[], signal: NodeJS.Signals = 'SIGKILL'): void {
  for (const { pid } of processes) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

/** Lines, one for each process and socket that is still there. */
export async function listLeftovers(dataDir: string, isSlice = false): Promise<string[]> {
  const runtimeDirectory = await runtimeDirectoryOf(dataDir, isSlice);
  const processes = processesOf(dataDir, runtimeDirectory).map(
    ({ pid, commandLine }) => `process ${pid}: ${commandLine.slice(0, 300)}`,
  );
  const entries = await readdir(runtimeDirectory, { recursive: true, withFileTypes: true }).catch(() => []);
  const sockets = entries.filter((entry) => entry.isSocket()).map((entry) => `socket ${join(entry.parentPath, entry.name)}`);
  return [...processes, ...sockets, ...interfacesOf(runtimeDirectory).map((name) => `interface ${name}`)];
}

/** Lists the network interfaces of the host that are marked as the server's. */
export function interfacesOf(runtimeDirectory: string): string[] {
  const folder = '/sys/class/net';
  return readdirSync(folder).filter((name) => read(`${folder}/${name}/ifalias`).trim() === runtimeDirectory);
}

/** Fails the test that left something. */
export async function leftovers(dataDir: string): Promise<void> {
  assert.deepEqual(await listLeftovers(dataDir), [], `left behind by the server on ${dataDir}`);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
