/** Answers connections whose bytes are not a valid HTTP request: writes an error in the usual form to the bare socket. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ConnectionError } from 'fastify';
import { JsonText } from '../lib/json-text.ts';
import { STATUS_CODES } from '../lib/node-http.ts';

const faults: Readonly<Record<string, readonly [status: number, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'The headers of the request are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not come in time'],
};

/** Handler for Fastify's `clientErrorHandler`. */
export function replyBroken(serverHeader: string) {
  return ({ code }: ConnectionError, socket: Socket): void => {
    if (code === 'ECONNRESET' || socket.destroyed) return;
    const [status, message] = faults[code] ?? [400, 'This is no request of HTTP that can be read'];
    if (socket.writable) socket.write(bareAnswer({ status, message, serverHeader }));
    socket.destroySoon();
  };
}

/** Answers requests that Node emits as separate events and would refuse without an error body. */
export function refuseOddRequests(server: NodeJS.EventEmitter, serverHeader: string): void {
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const body = new JsonText().encode({ message: 'No expectation but 100-continue is known', status: 417 });
    const headers = {
      Server: serverHeader,
      Connection: 'close',
      'Content-Type': 'application/json',
      'Content-Length': body.length,
    };
    response.writeHead(417, headers).end(body);
  });
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    socket.on('error', () => undefined);
    socket.end(bareAnswer({ status: 405, message: 'This server is no proxy', serverHeader }));
  });
}

interface BareAnswer {
  readonly status: number;
  readonly message: string;
  readonly serverHeader: string;
}

/** Formats a complete HTTP answer, after which the connection ends. */
export function bareAnswer({ status, message, serverHeader }: BareAnswer): string {
  const body = new JsonText().encode({ message, status });
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `Server: ${serverHeader}`,
    'Connection: close',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body.toString()}`;
}
