/**
 * A stock GNS3 compute as far as a controller sees it: its routes, statuses and closed request bodies; nodes and NIOs are only kept. Facts of
 * the GNS3 2.2 compute API: switches have no PUT for their NIOs, and the headers of a capture's stream leave with its first bytes.
 */
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { fault } from '../../src/api/faults.ts';
import { type Route, route, Stream, socketRoute } from '../../src/api/route.ts';
import { createHttpServer } from '../../src/http/server.ts';
import { Type } from '../../src/schema/type.ts';

type Fields = Record<string, unknown>;
type Path = Readonly<Record<string, string>>;

/** No other keys: GNS3 answers 400 for them. */
const Nio = Type.Object(
  {
    type: Type.Literal('nio_udp'),
    lport: Type.Integer(),
    rhost: Type.String(),
    rport: Type.Integer(),
    filters: Type.Optional(Type.Record(Type.String(), Type.Array(Type.Unknown()))),
    suspend: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);
const project = '/v2/compute/projects/{project_id}';

export class StockCompute {
  /** Keys of the requests, without `/v2/compute` and ids: `PUT vpcs/nio`. */
  readonly calls: string[] = [];
  /** `node/adapter/port` to NIO. */
  readonly nios = new Map<string, Fields>();
  /** Contents of the captures; nothing was written before `write`. */
  #written = Promise.withResolvers<string>();
  /** User agents that its capabilities were asked by. */
  readonly agents: (string | undefined)[] = [];
  #nextPort = 30_000;
  #port = 0;
  readonly #version: string;
  readonly #server: Promise<FastifyInstance>;

  private constructor(version: string) {
    this.#version = version;
    const log = pino({ level: 'silent' });
    this.#server = createHttpServer({ routes: this.#routes(), log, serverHeader: 'GNS3', allowedOrigins: [] });
  }

  static async start(version: string): Promise<StockCompute> {
    const compute = new StockCompute(version);
    const server = await compute.#server;
    await server.listen({ host: '127.0.0.1', port: 0 });
    compute.#port = (server.server.address() as AddressInfo).port;
    return compute;
  }

  get port(): number {
    return this.#port;
  }

  /** The first bytes of a capture; its stream ends. */
  write(text: string): void {
    this.#written.resolve(text);
  }

  async stop(): Promise<void> {
    this.#written.resolve('');
    const server = await this.#server;
    await server.close();
  }

  #routes(): Route[] {
    const node = (path: Path, body: unknown) => ({
      ...{ status: 'started', console: null, console_type: 'none', ...(body as Fields) },
      ...{ project_id: path.project_id, node_id: path.node_id ?? (body as Fields).node_id },
    });
    return [
      route('GET /v2/compute/capabilities', { right: 'open' as const, summary: '' }, ({ userAgent }) => {
        this.agents.push(userAgent);
        return { version: this.#version, platform: 'linux', node_types: ['vpcs', 'ethernet_switch'] };
      }),
      socketRoute(
        'GET /v2/compute/notifications/ws',
        { right: 'open' as const, summary: '' },
        () => undefined,
        (socket) => socket.send(JSON.stringify({ action: 'ping', event: { cpu_usage_percent: 1, memory_usage_percent: 1 } })),
      ),
      route('POST /v2/compute/projects', { right: 'open' as const, summary: '', status: 201 }, ({ body }) => body),
      route(`PUT ${project}`, { right: 'open' as const, summary: '' }, ({ body }) => body),
      route(`POST ${project}/close`, { right: 'open' as const, summary: '', status: 204 }, () => undefined),
      route(`DELETE ${project}`, { right: 'open' as const, summary: '', status: 204 }, () => undefined),
      route(`POST ${project}/ports/udp`, { right: 'open' as const, summary: '', status: 201 }, () => ({
        udp_port: this.#nextPort++,
      })),
      ...(['vpcs', 'ethernet_switch'] as const).flatMap((type) => [
        route(`POST ${project}/${type}/nodes`, { right: 'open' as const, summary: '', status: 201 }, ({ path, body }) =>
          node(path, body),
        ),
        route(`DELETE ${project}/${type}/nodes/{node_id}`, { right: 'open' as const, summary: '', status: 204 }, () => undefined),
        ...this.#portRoutes(type),
      ]),
    ];
  }

  #portRoutes(type: 'vpcs' | 'ethernet_switch'): Route[] {
    const port = `${project}/${type}/nodes/{node_id}/adapters/{adapter_number:\\d+}/ports/{port_number:\\d+}` as const;
    const set = (verb: string, path: Path, body: object) => {
      this.calls.push(`${verb} ${type}/nio`);
      this.nios.set(`${path.node_id}/${path.adapter_number}/${path.port_number}`, body as Fields);
      return body;
    };
    const spec = { right: 'open' as const, summary: '', body: Nio, status: 201 };
    return [
      route(`POST ${port}/nio`, spec, ({ path, body }) => set('POST', path, body)),
      route(`DELETE ${port}/nio`, { right: 'open' as const, summary: '', status: 204 }, ({ path }) => {
        this.nios.delete(`${path.node_id}/${path.adapter_number}/${path.port_number}`);
      }),
      route(`POST ${port}/start_capture`, { right: 'open' as const, summary: '' }, () => ({ pcap_file_path: '/capture.pcap' })),
      route(`POST ${port}/stop_capture`, { right: 'open' as const, summary: '', status: 204 }, () => undefined),
      route(`GET ${port}/pcap`, { right: 'open' as const, summary: '' }, async () => {
        const text = await this.#written.promise;
        if (text === '') throw fault('compute_error', { message: 'no capture' });
        return new Stream('application/vnd.tcpdump.pcap', Readable.from([text], { objectMode: false }));
      }),
      ...(type === 'vpcs' ? [route(`PUT ${port}/nio`, spec, ({ path, body }) => set('PUT', path, body))] : []),
    ];
  }
}
