/** Other users of this machine: clients of consoles, and the user of emulators. Only root can be one. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { findRunAs } from '../../src/emulators/host/run-as.ts';
import type { Settings } from '../../src/schema/settings.ts';

/** The number of the user that emulators of a node are without `run_as`, and of the one that tools are; our own when we are not root. */
export async function emulatorUser(nodeId?: string): Promise<number> {
  const runAs = await findRunAs({ Server: { run_as: '' } as Settings['Server'] }, nodeId);
  return Number(runAs?.uid ?? process.getuid?.());
}

/** Output of a console for the user `nobody`, until it hangs up, shows a prompt, or speaks the protocol of a screen. */
export async function outputForNobody(port: number | null, greeting: string | Uint8Array = '\r'): Promise<string> {
  const args = ['--reuid=65534', '--regid=65534', '--clear-groups', 'socat', '-', `TCP4:127.0.0.1:${port}`];
  const child = spawn('setpriv', args, { stdio: ['pipe', 'pipe', 'ignore'] });
  let output = '';
  child.stdout.setEncoding('latin1').on('data', (text: string) => {
    output += text;
    if (/VPCS> |^RFB 003\.008\n$|^REDQ/.test(output)) child.kill();
  });
  // A link message of SPICE, and what makes a PC show its prompt.
  child.stdin.write(greeting);
  await once(child, 'exit');
  return output;
}

/** Connects `times` times as the user `nobody`, writes and closes at once. */
export async function typeAsNobody(port: number, text: string, times: number): Promise<void> {
  const program = `
    const { connect } = require('node:net');
    const one = () => new Promise((resolve) => {
      const socket = connect(${port}, '127.0.0.1', () => { socket.write(${JSON.stringify(text)}); socket.destroy(); });
      socket.on('error', () => {}).on('close', resolve);
    });
    (async () => { for (let at = 0; at < ${times}; at++) await one(); })();`;
  const args = ['--reuid=65534', '--regid=65534', '--clear-groups', process.execPath, '-e', program];
  const [code] = await once(spawn('setpriv', args, { stdio: 'inherit' }), 'exit');
  if (code !== 0) throw new Error(`the client of another user ended with ${code}`);
}
