/** Machines that move between computes: what they send and take goes through the controller, in the bodies of requests. */
import { PassThrough, type Readable, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fault } from '../../api/faults.ts';
import { type Call, computeRoute, Stream } from '../../api/route.ts';
import type { MoveStream } from '../../emulators/driver.ts';
import { ComputeNode } from '../../schema/compute-node.ts';
import { HeldFrames, MoveArrival, MoveBegin, MovedPort, MoveOffer, MoveSent, PortMove } from '../../schema/move.ts';
import { BrokenSeal } from '../nodes/move-seals.ts';
import type { ComputeRouteContext } from './route-context.ts';

/** Size of a stream's buffer. Data passes five processes, which wait for their turns on a busy host: each needs data to work on. */
const bufferBytes = 4 * 2 ** 20;

/** Node whose machine arrives or departs, for messages. */
interface StreamedNode {
  readonly name: string;
}

export function moveRoutes(parts: ComputeRouteContext) {
  return [...departureRoutes(parts), ...arrivalRoutes(parts), ...portRoutes(parts)];
}

function portRoutes({ projects, moves: { movedPorts } }: ComputeRouteContext) {
  const place = '/v2/compute/projects/{project_id}/moved_ports' as const;
  return [
    computeRoute(
      `POST ${place}`,
      {
        summary: 'Join a port to where its paused peer goes; what is in the link waits',
        body: PortMove,
        reply: HeldFrames,
        own: true,
      },
      async ({ path, body: { nio, node_id, adapter_number: adapter, port_number: port } }) => {
        const node = projects.nodeOfAnyKind(path.project_id, node_id);
        const bind = () => node.bindNio({ adapter, port }, nio);
        return { held: await movedPorts.begin({ nodeId: node.id, adapter, port }, nio, bind) };
      },
    ),
    computeRoute(
      `POST ${place}/release`,
      { summary: 'Its peer runs: what waited leaves', body: MovedPort, status: 204, own: true },
      ({ path, body: { node_id, adapter_number: adapter, port_number: port } }) =>
        movedPorts.end({ nodeId: projects.nodeOfAnyKind(path.project_id, node_id).id, adapter, port }),
    ),
  ];
}

function departureRoutes({ projects, moves: { departures } }: ComputeRouteContext) {
  const nodeOf = (path: { project_id: string; node_id: string }) => projects.nodeOfAnyKind(path.project_id, path.node_id);
  const place = '/v2/compute/projects/{project_id}/departures/{node_id}' as const;
  const own = true;
  return [
    computeRoute(
      `POST ${place}`,
      { summary: 'Prepare a running machine to continue on another compute', body: MoveBegin, reply: MoveOffer, status: 201, own },
      ({ path, body: { secret } }) => departures.begin(nodeOf(path), secret),
    ),
    computeRoute(`DELETE ${place}`, { summary: 'Continue a machine that was to leave', status: 204, own }, ({ path }) =>
      departures.abort(nodeOf(path)),
    ),
    computeRoute(
      `POST ${place}/mirror`,
      { summary: 'Mirror its disks; answered when both sides are the same', status: 204, own },
      ({ path }) => departures.mirror(nodeOf(path)),
    ),
    computeRoute(`POST ${place}/pause`, { summary: 'Send its memory; answered when it is paused', status: 204, own }, ({ path }) =>
      departures.pause(nodeOf(path)),
    ),
    computeRoute(
      `POST ${place}/finish`,
      { summary: 'Send the rest; from now on it stays paused here', reply: MoveSent, own },
      async ({ path }) => ({ paused_ms: await departures.finish(nodeOf(path)) }),
    ),
    computeRoute(
      `GET ${place}/streams/{stream}`,
      { summary: 'What it sends', replyType: 'application/octet-stream', own },
      async ({ path }) => {
        const node = nodeOf(path);
        return sent(
          await departures.stream(node, path.stream),
          used(node, () => departures.seals(node).sending(path.stream)),
        );
      },
    ),
    computeRoute(
      `POST ${place}/streams/{stream}`,
      { summary: 'What it is sent', raw: true, mayPause: true, status: 204, own },
      async ({ path, stream }) => {
        const node = nodeOf(path);
        const into = await departures.stream(node, path.stream);
        await take(node, into, { body: stream, seals: used(node, () => departures.seals(node).taking(path.stream)) });
      },
    ),
  ];
}

/**
 * Routes that receive a machine's memory and the state of its devices, which QEMU trusts: only a controller may send them. On a server that
 * others use as well, the API cannot distinguish a controller from them.
 */
function arrivalRoutes({ projects, moves: { arrivals, areOpenToApi } }: ComputeRouteContext) {
  const nodeOf = (call: Pick<Call<'{project_id}{node_id}'>, 'path' | 'isOfController'>) => {
    const node = projects.nodeOfAnyKind(call.path.project_id, call.path.node_id);
    if (call.isOfController || areOpenToApi) return node;
    const reason = 'this compute takes machines from its own controller only; use a slice, or set allow_unsafe_options = True';
    throw fault('move_refused', { name: node.name, reason });
  };
  const place = '/v2/compute/projects/{project_id}/arrivals/{node_id}' as const;
  const own = true;
  return [
    computeRoute(
      `POST ${place}`,
      { summary: 'Start a machine that continues one of another compute', body: MoveArrival, status: 204, own },
      (call) => {
        const { secret, ...offer } = call.body;
        return arrivals.begin(nodeOf(call), offer, secret);
      },
    ),
    computeRoute(`DELETE ${place}`, { summary: 'Remove a machine that does not arrive', status: 204, own }, (call) =>
      arrivals.abort(nodeOf(call)),
    ),
    computeRoute(
      `POST ${place}/wait`,
      { summary: 'Wait until it has arrived; it is paused until it is resumed', reply: ComputeNode, own },
      async (call) => {
        await arrivals.wait(nodeOf(call));
        return nodeOf(call).present();
      },
    ),
    computeRoute(
      `GET ${place}/streams/{stream}`,
      { summary: 'What it sends', replyType: 'application/octet-stream', own },
      (call) => {
        const node = nodeOf(call);
        const stream = arrivals.stream(node, call.path.stream);
        return sent(
          stream,
          used(node, () => arrivals.seals(node).sending(call.path.stream)),
        );
      },
    ),
    computeRoute(
      `POST ${place}/streams/{stream}`,
      { summary: 'What it is sent', raw: true, mayPause: true, status: 204, own },
      (call) => {
        const node = nodeOf(call);
        const seals = used(node, () => arrivals.seals(node).taking(call.path.stream));
        return arrivals.take(node, call.path.stream, (into) => take(node, into, { body: call.stream, seals }));
      },
    ),
  ];
}

/** @throws move_refused for a stream that is used already */
function used(node: StreamedNode, seals: () => Transform[]): Transform[] {
  try {
    return seals();
  } catch (error) {
    throw refusalOf(node, error);
  }
}

function refusalOf({ name }: StreamedNode, error: unknown): unknown {
  return error instanceof BrokenSeal ? fault('move_refused', { name, reason: error.message }, { cause: error }) : error;
}

function sent({ from }: MoveStream, seals: readonly Transform[]): Stream {
  const source = new PassThrough({ highWaterMark: bufferBytes });
  if (from) pipeline([from, ...seals, source]).catch(() => undefined);
  else source.end();
  return new Stream('application/octet-stream', source);
}

/** The reader knows the end of its stream, and may close before that has come. @throws why the body broke off */
async function take(
  node: StreamedNode,
  { into }: MoveStream,
  { body, seals }: { body: Readable | undefined; seals: readonly Transform[] },
): Promise<void> {
  if (!into || !body) return;
  let isClosedByReader = false;
  let isBroken = false;
  const closed = () => {
    isClosedByReader = !isBroken;
  };
  for (const source of [body, ...seals])
    source.once('error', () => {
      isBroken ||= !isClosedByReader;
    });
  into.once('error', closed).once('close', closed);
  await pipeline([body, ...seals, into]).catch((error: Error) => {
    if (isBroken) throw refusalOf(node, error);
  });
}
