/**
 * Admits clients to the TCP ports of consoles: chosen users of this machine where the rest of the server asks for credentials; no page by
 * another name.
 */
import type { Socket } from 'node:net';
import { type IsKnownHost, knownHosts } from '../../lib/known-hosts.ts';
import { runTool } from '../../process/tool.ts';
import { consoleHostOf, consolesAreRestricted } from '../../schema/console-access.ts';
import type { Settings } from '../../schema/settings.ts';
import { peerUser } from './peer-user.ts';

/** Whether a client's connection may have a console. */
export type Admission = (socket: Socket) => Promise<boolean>;

const lookUpLimitMs = 5000;

export interface ConsoleAccess {
  /** Address on which consoles listen. */
  readonly consoleHost: string;
  /** Decides which clients may connect to consoles; undefined: all. */
  readonly consoleAdmission: Admission | undefined;
  /** Checks the names under which browsers ask for consoles that are web pages. */
  readonly isKnownHost: IsKnownHost;
}

/** `warn` is called with users that do not exist, once, when the first client comes. */
export function consoleAccess(server: Settings['Server'], warn: (message: string) => void): ConsoleAccess {
  return {
    consoleHost: consoleHostOf(server),
    consoleAdmission: admissionOf(server, warn),
    isKnownHost: knownHosts([server.host, ...server.allowed_hosts.split(',')]),
  };
}

/** Undefined: everybody who can connect may. */
function admissionOf(server: Settings['Server'], warn: (message: string) => void): Admission | undefined {
  if (!consolesAreRestricted(server)) return undefined;
  if (!server.console_ports) return async () => false;
  let admitted: Promise<Set<number>> | undefined;
  return async (socket) => {
    admitted ??= admittedUsers(server.console_users, warn);
    const uid = await peerUser(socket);
    return uid !== undefined && (await admitted).has(uid);
  };
}

/** Root can do everything anyway, and the server's own user can read its memory. */
async function admittedUsers(names: string, warn: (message: string) => void): Promise<Set<number>> {
  const users = new Set([0, process.geteuid?.() ?? 0]);
  for (const name of names.split(',').map((part) => part.trim())) {
    if (name === '') continue;
    const { code, stdout } = await runTool('id', ['-u', '--', name], { timeoutMs: lookUpLimitMs });
    if (code === 0) users.add(Number(stdout));
    else warn(`console_users in [Server] names "${name}", but this machine has no such user`);
  }
  return users;
}
