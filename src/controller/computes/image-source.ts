/**
 * Opens an image on another server for a download, without becoming a way into networks that the client does not reach: the URL
 * and each redirect are of `image_hosts`; the addresses to which a name resolves are global unicast, or of that list as well, and
 * the connection goes to one of these, so that a name which resolves differently a moment later changes nothing. No proxy of the
 * environment is used. Errors have the status of an answer at most, nothing else of it.
 */
import { lookup as resolveName } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { type Fault, fault, isFault } from '../../api/faults.ts';
import { isImageHost } from '../../schema/image-hosts.ts';

interface SourceOptions {
  /** Origins of `image_hosts`. */
  readonly hosts: readonly string[];
  /** The longest time without a byte. */
  readonly idleMs: number;
  readonly signal: AbortSignal;
}

export interface OpenedImage {
  /** Size announced by the server; null: unknown. */
  readonly sizeBytes: number | null;
  /** Content of the image. The caller must read or destroy it. @throws download_failed */
  readonly bytes: AsyncIterable<Buffer>;
  close(): Promise<void>;
}

const mostRedirects = 5;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const connectTimeoutMs = 10_000;

/** @throws invalid_request, image_host_refused, download_failed */
export async function openImageSource(url: string, options: SourceOptions): Promise<OpenedImage> {
  let address = webAddress(url);
  requireHost(address, options.hosts, 'it is not in image_hosts of [Server]');
  const first = address.origin;
  for (let count = 0; count <= mostRedirects; count++) {
    const opened = await open(address, options);
    if (!(opened instanceof URL)) return opened;
    requireHost(opened, options.hosts, 'it redirects to a host that is not in image_hosts of [Server]', first);
    address = opened;
  }
  throw fault('download_failed', { host: first, reason: `it redirects more than ${mostRedirects} times` });
}

/** @throws invalid_request */
function webAddress(text: string): URL {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) throw fault('invalid_request', { reason: 'url is not an http or https address' });
  if (hasCredentials(url)) throw fault('invalid_request', { reason: 'url holds a user or a password' });
  return url;
}

const hasCredentials = ({ username, password }: URL) => `${username}${password}` !== '';

/** @throws image_host_refused */
function requireHost(url: URL, hosts: readonly string[], reason: string, shown = url.origin): void {
  if (isImageHost(hosts, url)) return;
  // The cause is for the log; the client is given nothing of an answer but its status.
  throw fault('image_host_refused', { host: shown, reason }, { cause: new Error(`${url.origin} is not in image_hosts`) });
}

/** The place to which it redirects, or its bytes. */
async function open(url: URL, options: SourceOptions): Promise<URL | OpenedImage> {
  const { origin: host } = url;
  const { Agent, request } = await import('undici');
  const lookup = checkedLookup(url, options.hosts);
  const { idleMs } = options;
  const agent = new Agent({ connect: { timeout: connectTimeoutMs, lookup }, headersTimeout: idleMs, bodyTimeout: idleMs });
  try {
    const headers = { 'user-agent': 'Patchbay', 'accept-encoding': 'identity' };
    const answer = await request(url, { dispatcher: agent, headers, signal: options.signal }).catch((error: unknown) => {
      throw sourceFault(error, host, options);
    });
    const { statusCode: status, headers: given, body } = answer;
    body.on('error', () => undefined);
    if (redirects.has(status)) {
      await agent.destroy();
      const target = URL.parse(String(given.location ?? ''), url.href);
      if (!target || hasCredentials(target)) throw fault('download_failed', { host, reason: 'its redirect cannot be followed' });
      return target;
    }
    if (status !== 200) throw fault('download_failed', { host, reason: `it answers with status ${status}` });
    const reason = problemOf(given);
    if (reason !== undefined) throw fault('download_failed', { host, reason });
    return { sizeBytes: sizeOf(given), bytes: bytesOf(body, host, options), close: () => agent.destroy() };
  } catch (error) {
    await agent.destroy();
    throw error;
  }
}

/**
 * Resolves a name and refuses addresses that are not allowed. Node does not call it for a URL with an IP address, which the list of
 * hosts admits itself.
 */
function checkedLookup(url: URL, hosts: readonly string[]): LookupFunction {
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  const reason = 'its address is not one of the Internet: add that address to image_hosts in [Server] as well';
  return (name, options, done) => {
    resolveName(name, { ...options, all: true }, (error, found = []) => {
      const [first] = found;
      if (error || !first) done(error ?? new Error('it has no address'), '');
      else if (!found.every(({ address }) => isReachable(address, port, hosts)))
        done(fault('image_host_refused', { host: url.origin, reason }), '');
      else if (options.all) done(null, found);
      else done(null, first.address, first.family);
    });
  };
}

function isReachable(address: string, port: number, hosts: readonly string[]): boolean {
  if (isGlobalUnicast(address)) return true;
  const host = address.includes(':') ? `[${address}]` : address;
  return ['http', 'https'].some((scheme) => {
    const url = URL.parse(`${scheme}://${host}:${port}`);
    return url !== null && isImageHost(hosts, url);
  });
}

/** Explains why this answer holds no image. */
function problemOf(headers: Dispatcher.ResponseData['headers']): string | undefined {
  if (/^text\/html\b/i.test(String(headers['content-type'] ?? ''))) return 'it answers with a web page, not with a file';
  const encoding = headers['content-encoding'] ?? 'identity';
  return encoding === 'identity' ? undefined : 'it sends the file compressed, which was not requested';
}

function sizeOf(headers: Dispatcher.ResponseData['headers']): number | null {
  const text = String(headers['content-length'] ?? '');
  return /^\d{1,16}$/.test(text) ? Number(text) : null;
}

async function* bytesOf(body: Readable, host: string, options: SourceOptions): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of body) yield chunk as Buffer;
  } catch (error) {
    throw sourceFault(error, host, options);
  }
}

/** Translates an error. Only codes of Node and of the library are quoted, because a message may contain text of the server. */
function sourceFault(error: unknown, host: string, { idleMs, signal }: SourceOptions): Fault {
  if (isFault(error)) return error;
  if (signal.aborted) return fault('download_failed', { host, reason: 'it was cancelled' });
  const { code = 'unknown' } = error as NodeJS.ErrnoException;
  const silent = ['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'].includes(code);
  const reason = silent ? `it sent nothing for ${idleMs / 1000} s` : `the connection failed (${code})`;
  return fault('download_failed', { host, reason }, { cause: error });
}

/**
 * IANA's special-purpose registry of IPv4 (RFC 6890), multicast, and the reserved addresses above. All others are global unicast.
 */
const specialIpv4 = listOf('ipv4', [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
]);

/** Global unicast of IPv6 (RFC 4291), without its blocks for protocols, 6to4 (which embeds an IPv4 address) and documentation. */
const globalIpv6 = listOf('ipv6', [['2000::', 3]]);
const specialIpv6 = listOf('ipv6', [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
]);

function listOf(family: 'ipv4' | 'ipv6', networks: readonly (readonly [network: string, bits: number])[]): BlockList {
  const list = new BlockList();
  for (const [network, bits] of networks) list.addSubnet(network, bits, family);
  return list;
}

/**
 * Whether a text is an address of the Internet (global unicast), not of this machine, private or special; false for other texts, and for
 * addresses with a zone.
 */
export function isGlobalUnicast(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !specialIpv4.check(address, 'ipv4');
  return family === 6 && globalIpv6.check(address, 'ipv6') && !specialIpv6.check(address, 'ipv6');
}
