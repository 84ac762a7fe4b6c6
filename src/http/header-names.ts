/**
 * Header names of answers in the capitals that HTTP/1.1 servers usually send (`Content-Length`). They mean the same in any case (RFC 9110,
 * §5.1), but a proxy for GNS3 (gns3-proxy) looks for them literally.
 */
import type { OutgoingHttpHeader, OutgoingHttpHeaders } from 'node:http';
import { ServerResponse } from '../lib/node-http.ts';

/** Those that are not a capital and small letters between dashes. */
const special = new Map(
  ['ETag', 'WWW-Authenticate', 'Sec-WebSocket-Accept', 'Sec-WebSocket-Protocol', 'X-Content-Type-Options'].map((name) => [
    name.toLowerCase(),
    name,
  ]),
);

export function capitalized(name: string): string {
  return special.get(name) ?? name.replace(/(?<![a-zA-Z0-9])[a-z]/g, (letter) => letter.toUpperCase());
}

export class CapitalizedResponse extends ServerResponse {
  override setHeader(name: string, value: number | string | readonly string[]): this {
    return super.setHeader(capitalized(name), value);
  }

  override writeHead(status: number, ...rest: readonly unknown[]): this {
    const renamed = rest.map((part) => (isHeaders(part) ? renameKeys(part) : part));
    return super.writeHead(status, ...(renamed as [string, OutgoingHttpHeaders]));
  }
}

function isHeaders(part: unknown): part is OutgoingHttpHeaders {
  return typeof part === 'object' && part !== null && !Array.isArray(part);
}

function renameKeys(headers: OutgoingHttpHeaders): Record<string, OutgoingHttpHeader | undefined> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [capitalized(name), value]));
}
