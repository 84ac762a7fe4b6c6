/** Finds the command line's server and its credentials. A password comes from the environment or a file, never from an option. */
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { CliUsageError } from './command.ts';
import type { ServerAddress } from './server-client.ts';

const defaultUrl = 'http://127.0.0.1:3080';

/** Returns the server's address. @throws CliUsageError for an invalid address */
export async function serverAddress(given: { url?: string | undefined; user?: string | undefined }): Promise<ServerAddress> {
  const { PATCHBAY_URL, PATCHBAY_USER, PATCHBAY_PASSWORD } = process.env;
  const url = parseUrl(given.url ?? (PATCHBAY_URL || defaultUrl));
  if (given.url !== undefined && url.password !== '') {
    throw new CliUsageError(
      '--url must not hold a password: others could read it. Set PATCHBAY_PASSWORD, or write it to the netrc file',
    );
  }
  const plain = `${url.protocol}//${url.host}${url.pathname.replace(/\/$/, '')}`;
  const user = given.user ?? (PATCHBAY_USER || decodeURIComponent(url.username) || undefined);
  const password = PATCHBAY_PASSWORD || decodeURIComponent(url.password) || undefined;
  if (user !== undefined && password !== undefined) return { url: plain, user, password };
  const entry = await netrcEntry(url.hostname, user);
  return { url: plain, user: user ?? entry?.user, password: password ?? entry?.password };
}

function parseUrl(text: string): URL {
  const url = URL.parse(/^https?:\/\//.test(text) ? text : `http://${text}`);
  if (!url) throw new CliUsageError(`"${text}" is not the address of a server: write http://HOST:PORT or https://HOST:PORT`);
  return url;
}

interface NetrcEntry {
  readonly user: string;
  readonly password: string | undefined;
}

/** Reads the entry from the file in `NETRC`, or from `~/.netrc`. */
async function netrcEntry(host: string, user: string | undefined): Promise<NetrcEntry | undefined> {
  const text = await readFile(process.env.NETRC || join(homedir(), '.netrc'), 'utf8').catch(() => '');
  return findEntry(text, host, user);
}

/** Returns the first entry for the host, and for the user if given; a `default` entry comes last. */
export function findEntry(netrc: string, host: string, user?: string): NetrcEntry | undefined {
  const words = netrc
    .replaceAll(/^\s*#.*$/gm, '')
    .split(/\s+/)
    .filter(Boolean);
  const entries: { host: string | undefined; user?: string; password?: string }[] = [];
  for (let index = 0; index < words.length; index++) {
    const [word, next] = [words[index], words[index + 1]];
    const entry = entries.at(-1);
    if (word === 'machine') entries.push({ host: next });
    else if (word === 'default') entries.push({ host: undefined });
    else if (word === 'login' && entry && next !== undefined) entry.user = next;
    else if (word === 'password' && entry && next !== undefined) entry.password = next;
    if (word !== 'default') index += 1;
  }
  const fits = (entry: (typeof entries)[number]) => user === undefined || entry.user === undefined || entry.user === user;
  const found =
    entries.find((entry) => entry.host === host && fits(entry)) ?? entries.find((entry) => entry.host === undefined && fits(entry));
  return found?.user === undefined ? undefined : { user: found.user, password: found.password };
}
