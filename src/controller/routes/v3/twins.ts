/** Declares routes of `/v3` that do what a route of `/v2` does, with the handler and the schemas of that one. */
import { Answer, type Call, type Method, type Route, type RouteKey, type RouteSpec } from '../../../api/route.ts';
import type { TSchema } from '../../../schema/type.ts';

/** Differences of a route from its twin in `/v2`; what is absent is the same. */
interface TwinChange extends Partial<RouteSpec<TSchema | undefined>> {
  /** Translates the request into one of the twin. @throws a fault */
  readonly request?: (call: Call) => Call;
  /** Translates the twin's answer. */
  readonly answer?: (value: never, call: Call) => unknown;
}

/** Declares the route `key` as the twin of the route `of`. @throws Error when there is no such route, which is a bug */
export type DeclareTwin = (key: RouteKey, of: RouteKey, change?: TwinChange) => Route;

export function twinsOf(routes: readonly Route[]): DeclareTwin {
  const known = new Map(routes.map((route) => [route.key, route]));
  return (key, of, { request = (call: Call) => call, answer, ...spec } = {}) => {
    const twin = known.get(of);
    if (!twin) throw new Error(`${of} is not declared`);
    const space = key.indexOf(' ');
    return {
      ...twin,
      key,
      method: key.slice(0, space) as Method,
      template: key.slice(space + 1),
      spec: { ...twin.spec, ...spec },
      handle: async (call) => {
        const value = await twin.handle(request(call));
        const shaped = answer ? answer(value as never, call) : value;
        return spec.status !== undefined && shaped instanceof Answer ? new Answer(spec.status, shaped.body, shaped.sent) : shaped;
      },
    };
  };
}

/** Declares twins whose keys differ by their generation alone. */
export function sameTwins(twin: DeclareTwin, keys: readonly `${Method} /v3/${string}`[]): Route[] {
  return keys.map((key) => twin(key, key.replace(' /v3/', ' /v2/') as RouteKey));
}
