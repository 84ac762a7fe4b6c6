/**
 * Two PCs of the `vpcs` program, joined by UDP, in the network namespace that this program is started in. Reads lines for the first as a JSON
 * list and writes what its console shows after each. The second has 10.0.0.2/24 and 2001:db8::2/64.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withoutTelnet } from './telnet.ts';

const folder = mkdtempSync(join(tmpdir(), 'pb-vpcs-pair-'));
const children = [0, 1].map((index) => {
  const ports = ['-p', `500${index}`, '-s', `1000${index}`, '-c', `1000${1 - index}`, '-t', '127.0.0.1'];
  return spawn('vpcs', [...ports, '-i', '1', '-F', '-m', String(index)], { cwd: folder, stdio: 'ignore' });
});

async function openConsole(port: number): Promise<Socket> {
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await new Promise<boolean>((resolve) =>
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false)),
    );
    if (isOpen) return socket;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Types the line when the console is quiet, and again when it was discarded. */
async function type(socket: Socket, line: string): Promise<string> {
  for (;;) {
    const chunks: Buffer[] = [];
    const onData = (chunk: Buffer) => void chunks.push(chunk);
    const text = () => withoutTelnet(Buffer.concat(chunks)).toString();
    socket.on('data', onData);
    socket.write(`${line}\r`);
    let [quietMs, length] = [0, 0];
    for (let ms = 0; ms < 20_000; ms += 50) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      quietMs = text().length === length ? quietMs + 50 : 0;
      length = text().length;
      const isDone = text().includes(`${line}\r\n`) && text().endsWith('> ');
      if (quietMs >= (isDone ? 100 : text().includes(line) ? 15_000 : 4000)) break;
    }
    socket.off('data', onData);
    // The echo follows a prompt, or comes first.
    const at = `> ${text()}`.lastIndexOf(`> ${line}\r\n`);
    if (at >= 0) return text().slice(at).replaceAll('\r', '');
  }
}

const lines = JSON.parse(process.argv[2] ?? '[]') as string[];
try {
  const [one, two] = [await openConsole(5000), await openConsole(5001)];
  for (const line of ['ip 10.0.0.2/24', 'ip 2001:db8::2/64']) await type(two, line);
  const answers: string[] = [];
  for (const line of lines) answers.push(await type(one, line));
  process.stdout.write(JSON.stringify(answers));
  one.destroy();
  two.destroy();
} finally {
  for (const child of children) child.kill();
  rmSync(folder, { recursive: true, force: true });
}
