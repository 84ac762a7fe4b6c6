/** Wire conventions that differ between the generations of the API: how a request is read, and the form of its errors. */
import type { FastifyRequest } from 'fastify';
import type { Fault } from '../../api/faults.ts';
import type { Call, Method, Route } from '../../api/route.ts';

/** Parameters of a request, as they were sent or as the handler is called with them. */
export interface CallParts {
  readonly path: Call['path'];
  readonly query: Call['query'];
  /** The parsed JSON body; undefined without one, and on raw routes. */
  readonly body: unknown;
}

/** An error answer. */
interface ErrorAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** An answer to a path or method without a route. */
export interface NoRouteAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
  /** Absolute address of the path that has a route. */
  readonly location?: string;
}

export interface Generation {
  /** Value of `WWW-Authenticate` for programs that have not logged in. */
  readonly challenge: string;
  /** Status for pages of origins that may not use the server. */
  readonly refusedPreflight: number;
  /** Reads the parameters and validates them. @throws invalid_request */
  readonly read: (route: Route, sent: CallParts, request: FastifyRequest) => Promise<CallParts>;
  readonly errorOf: (fault: Fault, request: FastifyRequest) => ErrorAnswer;
  /** Answers a request that `methodsOf` finds no route for. */
  readonly noRoute: (request: FastifyRequest, methodsOf: (url: string) => Method[]) => NoRouteAnswer;
}
