/** Answers of remote computes: what a failure means here, and replies checked before anything relies on them. */
import { type Fault, fault } from '../../api/faults.ts';
import { problemsOfReply } from '../../api/validate.ts';
import { type Capabilities, linkFeatures } from '../../schema/compute.ts';
import { nodeTypes } from '../../schema/node.ts';
import type { Static, TSchema } from '../../schema/type.ts';

export interface Refusal {
  /** Name of the compute. */
  readonly name: string;
  readonly request: string;
  readonly status: number;
  /** Body of the answer. */
  readonly text: string;
}

export function faultOfAnswer({ name, request, status, text }: Refusal): Fault {
  const { message, exception, image } = understood(text);
  if (status === 400) return fault('compute_bad_request', { request, message: text });
  if (status === 401) return fault('compute_unauthorized', { name });
  if (status === 403) return fault('compute_forbidden', { message });
  // GNS3 has no PUT for the NIOs of its switches.
  if (status === 404 || status === 405) return fault('compute_route_missing', { request });
  if (status === 408 || status === 504) return fault('compute_timeout', { name, request });
  if (status === 409 && exception === 'ImageMissingError' && image !== undefined)
    return fault('image_missing', { image }, { extra: { image } });
  if (status === 409) return fault('compute_error', { message });
  if (status === 503) return fault('compute_busy', { name, request, message });
  return fault('compute_failed', { name, request, message });
}

/** The JSON of an answer. @throws `compute_reply_invalid` */
export function parseReply(name: string, request: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const reason = text === '' ? 'it is empty' : 'it is not JSON';
    throw fault('compute_reply_invalid', { name, request, reason }, { cause });
  }
}

interface ReplyText {
  /** Name of the compute. */
  readonly name: string;
  readonly request: string;
  readonly text: string;
}

/** The JSON of an answer, which must have the form of the schema; it may have more keys. @throws `compute_reply_invalid` */
export async function checkReply(schema: TSchema, { name, request, text }: ReplyText): Promise<unknown> {
  const reply = parseReply(name, request, text);
  const reason = await problemsOfReply(schema, reply);
  if (reason !== undefined) throw fault('compute_reply_invalid', { name, request, reason });
  return reply;
}

/**
 * Parses the capabilities that a compute reports; undefined unless they are an object. Kinds and values unknown to this server are
 * left out.
 */
export function capabilitiesOf(text: string): Static<typeof Capabilities> | undefined {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return undefined;
  const { version, node_types, platform, link_encryption, link_features, link_streams, ...flags } = given as Record<
    string,
    unknown
  >;
  const { live_moves, machine_taps, node_runs, number_ranges, image_transfers, ...more } = flags;
  return {
    ...more,
    version: typeof version === 'string' ? version : null,
    // In the compute's own order.
    node_types: Array.isArray(node_types) ? node_types.filter((type) => nodeTypes.includes(type)) : [],
    ...(typeof platform === 'string' && { platform }),
    ...(Array.isArray(link_features) && { link_features: linkFeatures.filter((feature) => link_features.includes(feature)) }),
    ...(number_ranges === true && { number_ranges }),
    ...(live_moves === true && { live_moves }),
    ...(machine_taps === true && { machine_taps }),
    ...(node_runs === true && { node_runs }),
    ...(image_transfers === true && { image_transfers }),
    ...(typeof link_streams === 'boolean' && { link_streams }),
    ...((link_encryption === 'preferred' || link_encryption === 'required') && { link_encryption }),
  };
}

function understood(text: string): { message: string; exception?: unknown; image?: string } {
  try {
    const { message, exception, image } = JSON.parse(text) as Record<string, unknown>;
    return { message: typeof message === 'string' ? message : text, exception, ...(typeof image === 'string' && { image }) };
  } catch {
    return { message: text };
  }
}
