/**
 * The compute's API as types, derived from its routes: what the controller calls. No line of this file runs. Which kind a node is of is
 * known at run time only, so a route of one kind is offered for every kind; the others answer `compute_route_missing`.
 */
import type { ApiOf } from '../api/client.ts';
import type { RouteOfOneKind } from '../emulators/drivers.ts';
import type { NodeType } from '../schema/node.ts';
import type { sharedRoutes } from './routes/routes.ts';

type ForEveryKind<Key extends string> = Key extends `${infer Project}/${NodeType}/nodes/${infer Rest}`
  ? `${Project}/${NodeType}/nodes/${Rest}`
  : Key;
type OfKinds = ApiOf<RouteOfOneKind>;

export type ComputeApi = ApiOf<ReturnType<typeof sharedRoutes>[number]> & {
  // Bodies of these requests are a client's, which the controller passes on as they are.
  readonly [Key in keyof OfKinds as ForEveryKind<Key & string>]: { readonly body: unknown; readonly reply: OfKinds[Key]['reply'] };
};
