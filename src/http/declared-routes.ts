/**
 * Connects Fastify with the declared routes. Fastify has one route for each method and kind of body, and not one for each declared route:
 * it registers a route in a third of a millisecond, and there are 550. A constraint of its router finds the declared route.
 */
import type { IncomingMessage } from 'node:http';
import type { FastifyRequest, FastifyServerOptions } from 'fastify';
import type { Route } from '../api/route.ts';
import type { RouteMatch, RouteTable } from '../api/route-table.ts';

/** Kind of a request: its body is JSON or a stream, or it is upgraded to a WebSocket. */
type RouteKind = 'json' | 'raw' | 'socket';

const match = Symbol('match');

type KindConstraint = NonNullable<NonNullable<FastifyServerOptions['routerOptions']>['constraints']>[string];
type Handlers = Map<unknown, Parameters<ReturnType<KindConstraint['storage']>['set']>[1]>;
type Matched = IncomingMessage & { [match]?: RouteMatch };

/** Returns the router's constraint `kind`, whose value is the kind of the declared route, or `none`. */
export function kindConstraint(table: RouteTable): KindConstraint {
  return {
    name: 'kind',
    storage: () => {
      const handlers: Handlers = new Map();
      return { get: (kind) => handlers.get(kind) ?? null, set: (kind, handler) => void handlers.set(kind, handler) };
    },
    deriveConstraint: (request) => {
      const found = table.find(request.method ?? '', request.url ?? '');
      if (found) (request as Matched)[match] = found;
      return found ? kindOf(found.route) : 'none';
    },
  };
}

function kindOf({ socket, spec }: Route): RouteKind {
  if (socket) return 'socket';
  return spec.raw ? 'raw' : 'json';
}

/** Returns the declared route of a request and its path parameters; undefined for the page, the login and unknown paths. */
export function matchOf({ raw }: FastifyRequest): RouteMatch | undefined {
  return (raw as Matched)[match];
}

/** Returns the declared route of a request; undefined for the page, the login and unknown paths. */
export function declaredRoute(request: FastifyRequest): Route | undefined {
  return matchOf(request)?.route;
}
