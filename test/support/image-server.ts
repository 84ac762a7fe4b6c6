/** A web server on the loopback address from which images are downloaded, with everything that can go wrong there. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';

export const imageBytes = Buffer.concat([Buffer.from('QFI\xfb', 'latin1'), Buffer.alloc(3 * 2 ** 20, 7)]);
export const imageMd5 = createHash('md5').update(imageBytes).digest('hex');
export const imageSha256 = createHash('sha256').update(imageBytes).digest('hex');

/** Each with what sends the rest. */
type Waiting = Map<ServerResponse, () => void>;

export interface ImageServer {
  /** Origin like `http://127.0.0.1:PORT`. */
  readonly origin: string;
  readonly port: number;
  /** Paths of the requests so far. */
  readonly requests: string[];
  /** Answers to `/half` whose client is there: after the half they get a byte now and then. */
  readonly waiting: Waiting;
  /** Sends the rest of them. */
  release(): void;
}

/** Ends after the tests of the file. `tls`: certificate and key. */
export async function withImageServer(tls?: { readonly cert: Buffer; readonly key: Buffer }): Promise<ImageServer> {
  const requests: string[] = [];
  const waiting: Waiting = new Map();
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? '/', 'http://x');
    requests.push(url.pathname);
    behaviours[url.pathname]?.(response, url.searchParams.get('to') ?? '', waiting) ?? response.writeHead(404).end('a secret text');
  };
  const server: Server = tls ? createTlsServer(tls, answer) : createServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const release = () => {
    for (const sendRest of waiting.values()) sendRest();
  };
  return { origin: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`, port, requests, waiting, release };
}

const halfBytes = 2 ** 20;
const length = { 'content-length': imageBytes.length };

type Behaviour = (response: ServerResponse, to: string, waiting: Waiting) => unknown;
const behaviours: Readonly<Record<string, Behaviour>> = {
  '/disk.img': (response) => response.writeHead(200, length).end(imageBytes),
  '/unknown-size.img': (response) => response.writeHead(200).end(imageBytes),
  '/redirect': (response, to) => response.writeHead(302, { location: to }).end('a secret text'),
  '/page': (response) => response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<h1>a secret text</h1>'),
  '/packed': (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('x'),
  '/empty': (response) => response.writeHead(200).end(),
  '/huge': (response) => response.writeHead(200, { 'content-length': 1e15 }).write('x'),
  '/cut': (response) => response.writeHead(200, length).write(imageBytes.subarray(0, 1000), () => response.destroy()),
  '/silent': () => true,
  '/half': (response, _to, waiting) => {
    let sent = halfBytes;
    response.writeHead(200, length).write(imageBytes.subarray(0, sent));
    const timer = setInterval(() => {
      response.write(imageBytes.subarray(sent, sent + 1));
      sent += 1;
    }, 200);
    response.once('close', () => {
      clearInterval(timer);
      waiting.delete(response);
    });
    return waiting.set(response, () => {
      clearInterval(timer);
      response.end(imageBytes.subarray(sent));
    });
  },
};
