/** Describes at the start who may use the server. */
import { consoleHostOf, consolesAreRestricted, isLoopback } from './schema/console-access.ts';
import type { Settings } from './schema/settings.ts';

/** Returns one or two sentences. */
export function describeAccess(server: Settings['Server']): string {
  const { auth, host, console_users } = server;
  const everybody = (address: string) => (isLoopback(address) ? 'every user of this machine' : `everybody who reaches ${address}`);
  if (!auth) {
    const consoles = consoleHostOf(server);
    const where = consoles === host ? 'API and consoles are' : `Consoles are open to ${everybody(consoles)}; the API is`;
    return `${where} open to ${everybody(host)}: no credentials are asked for.`;
  }
  if (!consolesAreRestricted(server))
    return `The API asks for credentials. Consoles are open to ${everybody(consoleHostOf(server))}.`;
  if (!server.console_ports) return 'The API asks for credentials. Consoles are open by WebSocket only, with these credentials.';
  const users = ['root', 'the user of this server', ...names(console_users)].join(', ');
  return `The API asks for credentials. Consoles listen on ${consoleHostOf(server)}; they are open to ${users}.`;
}

/** Returns a sentence with the address by which the first administrator sets a password; none without a token. */
export function describeSetUp(url: string, user: string, token: string | undefined): string[] {
  if (token === undefined) return [];
  return [`No administrator has a password yet. Set that of ${user.trim()} here, once, within an hour: ${url}/setup#${token}`];
}

function names(list: string): string[] {
  return list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}
