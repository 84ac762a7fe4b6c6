import { type Route, route } from '../../api/route.ts';
import { SliceInvitation, SliceInvite, SliceJoin, SliceLease, SliceObject, SliceRenew } from '../../schema/slice.ts';
import { Type } from '../../schema/type.ts';
import type { Controller } from '../controller.ts';

/** Computes that register themselves. */
export function sliceRoutes({ slices, sliceList }: Controller): Route[] {
  return [
    route('GET /v2/slices', { summary: 'List the slices and their states', reply: Type.Array(SliceObject), own: true }, () =>
      sliceList.all(),
    ),
    route(
      'POST /v2/slices/invitations',
      {
        summary: 'Make a token with which one compute may join, once',
        body: SliceInvite,
        status: 201,
        reply: SliceInvitation,
        own: true,
      },
      ({ body }) => slices.invite(body),
    ),
    route(
      'POST /v2/slices/join',
      {
        summary: 'A compute registers itself with a token',
        body: SliceJoin,
        reply: SliceLease,
        own: true,
        hasOwnCredentials: true,
      },
      ({ body }) => slices.join(body),
    ),
    route(
      'POST /v2/slices/{compute_id}/lease',
      { summary: 'A slice renews its lease', body: SliceRenew, reply: SliceLease, own: true, hasOwnCredentials: true },
      ({ path, body }) => slices.renew(path.compute_id, body),
    ),
  ];
}
