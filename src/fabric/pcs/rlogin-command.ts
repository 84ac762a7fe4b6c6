/** `rlogin`: a session over TCP with a host that the PC reaches by its own port. */
import { readAddress } from './addresses.ts';
import type { PcCommand } from './commands.ts';
import { type PcShell, shellTimer } from './shell.ts';
import type { TcpOutcome } from './tcp.ts';
import { helpTexts } from './texts.ts';

const ctrlX = 24;
/** Commands of telnet (RFC 854) are left out of the output and not answered: options stay off. */
const telnetCommand = /\xff(?:[\xfb-\xfe][\s\S]|[^\xfb-\xfe])/g;

export const rlogin: PcCommand = (shell, words) => {
  const [to, port] = words.length === 1 ? ['127.0.0.1', words[0]] : words;
  const address = readAddress(to ?? '');
  const number = Number(port);
  if (to === undefined || words.length > 2 || !/^\d{1,5}$/.test(port ?? '') || number < 1 || number > 65_535) {
    shell.print(helpTexts.rlogin ?? '');
    return 'done';
  }
  if (address === undefined) {
    shell.print('Invalid IP address\n');
    return 'done';
  }
  shell.print(`\nConnect ${address}:${number}, press Ctrl+X to quit\n`);
  inSession(shell, { address, port: number });
  return 'started';
};

/** The job of the session. `connection`: of a restored PC. */
export function inSession(shell: PcShell, to: { readonly address: string; readonly port: number }, connection?: string): void {
  const { host } = shell;
  const { tcp } = host;
  let key = connection;
  let isEnded = false;
  const finish = () => {
    if (isEnded) return;
    isEnded = true;
    host.clearTask(shellTimer);
    shell.print(`\nDisconnected from ${to.address}:${to.port}\n`);
    shell.finish();
  };
  const user = {
    onOpen: () => undefined,
    onAcked: () => undefined,
    onData: (bytes: Uint8Array) => shell.print(String.fromCharCode(...bytes).replace(telnetCommand, '')),
    onEnd: (_: TcpOutcome) => finish(),
  };
  const interrupt = () => {
    isEnded = true;
    host.clearTask(shellTimer);
    if (key !== undefined) tcp.abort(key);
  };
  const quit = () => {
    if (key !== undefined) tcp.abort(key);
    finish();
  };
  const onKey = (byte: number) => {
    if (byte === ctrlX) quit();
    else if (key !== undefined) tcp.send(key, Uint8Array.from([byte]));
  };
  shell.setJob({
    interrupt,
    onKey,
    takesCtrlC: true,
    state: () => ({ kind: 'rlogin', ...to, ...(key === undefined ? {} : { connection: key }) }),
  });
  host.setTask(shellTimer, { onTimer: () => undefined, onUnreachable: ({ dst }) => dst === to.address && quit() });
  if (connection !== undefined) tcp.attach(connection, user);
  else key = shell.host.findFailure(to.address) ? undefined : tcp.connect(to.address, to.port, user);
  if (key === undefined) finish();
}
