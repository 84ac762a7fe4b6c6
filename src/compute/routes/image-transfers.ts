/** Images on their way from this compute to others, and to it. */
import { Readable } from 'node:stream';
import { fault } from '../../api/faults.ts';
import { computeRoute, route } from '../../api/route.ts';
import type { ImageFolder } from '../../emulators/host/images.ts';
import {
  ImageArrival,
  ImageArrivalStart,
  ImageChoice,
  ImageDeparture,
  ImageFetch,
  ImagePiece,
  ImagePlaced,
} from '../../schema/image-transfer.ts';
import type { NodeType } from '../../schema/node.ts';
import { ImageArrivals } from '../host/image-arrivals.ts';
import { ImageDepartures } from '../host/image-departures.ts';
import type { ComputeRouteContext } from './route-context.ts';

const own = true;

export function imageTransferRoutes({ context, host }: ComputeRouteContext) {
  const folderOf = (type: NodeType): ImageFolder => {
    const facts = context.drivers.get(type)?.kind.images;
    if (!facts) throw fault('invalid_request', { reason: `${type} nodes have no images` });
    return host.images.of(facts);
  };
  return [
    ...departureRoutes(new ImageDepartures(host.images.checksums), folderOf),
    ...arrivalRoutes(new ImageArrivals(host.images.checksums), folderOf),
  ];
}

function departureRoutes(departures: ImageDepartures, folderOf: (type: NodeType) => ImageFolder) {
  const place = '/v2/compute/image_departures' as const;
  return [
    computeRoute(
      `POST ${place}`,
      { summary: 'Let another compute read an image', body: ImageChoice, reply: ImageDeparture, status: 201, own },
      ({ body: { node_type, filename } }) => departures.begin(folderOf(node_type), filename),
    ),
    route(
      `POST ${place}/{departure_id}/bytes`,
      {
        summary: 'Read a piece of an image with the secret of its transfer',
        body: ImagePiece,
        replyType: 'application/octet-stream',
        own,
        right: 'secret',
      },
      ({ path, body }) => departures.read(path.departure_id, body),
    ),
    computeRoute(`DELETE ${place}/{departure_id}`, { summary: 'End the transfer of an image', status: 204, own }, ({ path }) =>
      departures.end(path.departure_id),
    ),
  ];
}

function arrivalRoutes(arrivals: ImageArrivals, folderOf: (type: NodeType) => ImageFolder) {
  const place = '/v2/compute/image_arrivals' as const;
  return [
    computeRoute(
      `POST ${place}`,
      { summary: 'Begin or resume the arrival of an image', body: ImageArrivalStart, reply: ImageArrival, status: 201, own },
      ({ body: { node_type, ...expected } }) => arrivals.begin(folderOf(node_type), expected),
    ),
    computeRoute(
      `POST ${place}/{arrival_id}/bytes/{from}`,
      { summary: 'Append bytes to an arriving image', raw: true, status: 204, own },
      ({ path, stream }) => arrivals.append(path.arrival_id, placeOf(path.from), stream ?? Readable.from([])),
    ),
    computeRoute(
      `POST ${place}/{arrival_id}/fetch`,
      { summary: 'Fetch the next piece from another compute', body: ImageFetch, reply: ImageArrival, fillsDisk: true, own },
      ({ path, body }) => arrivals.fetch(path.arrival_id, body),
    ),
    computeRoute(
      `POST ${place}/{arrival_id}/finish`,
      { summary: 'Check the SHA-256 of an arrived image and put it in place', reply: ImagePlaced, own },
      async ({ path }) => ({ placed: await arrivals.finish(path.arrival_id) }),
    ),
  ];
}

function placeOf(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw fault('invalid_request', { reason: 'from is not a number of bytes' });
  return Number(text);
}
