/**
 * Decides where consoles listen and who may use them: one rule for the compute, which opens consoles, and the controller, which
 * describes them.
 */
import type { Settings } from './settings.ts';

type ConsoleRule = Pick<Settings['Server'], 'host' | 'allow_remote_console' | 'auth' | 'console_without_credentials'>;

/**
 * Whether raw consoles are restricted to chosen local users. Raw consoles have no login, so they are when `auth` protects
 * everything else.
 */
export function consolesAreRestricted({ auth, console_without_credentials }: ConsoleRule): boolean {
  return auth && !console_without_credentials;
}

/** Returns the address on which telnet, VNC and SPICE consoles listen. */
export function consoleHostOf(server: ConsoleRule): string {
  if (consolesAreRestricted(server)) return loopbackFor(server.host);
  if (!server.allow_remote_console) return server.host;
  return server.host.includes(':') ? '::' : '0.0.0.0';
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

function loopbackFor(host: string): string {
  if (isLoopback(host)) return host;
  return host.includes(':') ? '::1' : '127.0.0.1';
}
