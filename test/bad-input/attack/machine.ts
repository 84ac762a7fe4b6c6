/** Inspects a running machine from outside: its open files, listening sockets and child processes. */
import { readdir, readFile, readlink } from 'node:fs/promises';

/** Devices without content, its own TAP interfaces, kernel objects of a process, and firmware. */
const harmlessFiles = /^(?:\/dev\/(?:null|zero|u?random|kvm|net\/tun)$|anon_inode:|pipe:|socket:|\/memfd:|\/usr\/(?:share|lib)\/)/;

/** Inspects the QEMU whose command line has this word. @returns defects as texts */
export async function machineProblems(word: string, folders: readonly string[]): Promise<string[]> {
  const problems: string[] = [];
  for (const pid of (await readdir('/proc')).map(Number).filter((each) => each > 0)) {
    const command = await commandOf(pid);
    if (!command.includes(word) || !/^\S*qemu-system/.test(command)) continue;
    for (const child of await childrenOf(pid)) problems.push(`it started ${await commandOf(child)}`);
    const open = await openFiles(pid);
    const foreign = open.filter((file) => !harmlessFiles.test(file) && !folders.some((folder) => file.startsWith(`${folder}/`)));
    problems.push(...foreign.map((file) => `it has ${file} open`));
    const doors = await listening(pid, new Set(open));
    problems.push(...doors.map((door) => `it listens on ${door}`));
  }
  return problems;
}

async function commandOf(pid: number): Promise<string> {
  return (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).replaceAll('\0', ' ');
}

async function childrenOf(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const lists = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'utf8').catch(() => '')),
  );
  return lists.join(' ').split(' ').filter(Boolean).map(Number);
}

async function openFiles(pid: number): Promise<string[]> {
  const names = await readdir(`/proc/${pid}/fd`).catch(() => []);
  const links = await Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => '')));
  return links.filter((link) => link !== '');
}

/** Local addresses, in the kernel's form, of TCP sockets that listen. */
async function listening(pid: number, open: ReadonlySet<string>): Promise<string[]> {
  const doors: string[] = [];
  for (const table of ['tcp', 'tcp6']) {
    const lines = (await readFile(`/proc/${pid}/net/${table}`, 'utf8').catch(() => '')).split('\n').slice(1);
    for (const line of lines) {
      const [, address, , state, , , , , , inode] = line.trim().split(/\s+/);
      if (state === '0A' && open.has(`socket:[${inode}]`)) doors.push(`${table} ${address}`);
    }
  }
  return doors;
}
