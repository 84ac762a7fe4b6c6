/**
 * Answers and events of remote computes, which may be hostile or of another version: read up to a limit, checked before anything
 * relies on them, and failures translated to the errors of this server.
 */
import type { Readable } from 'node:stream';
import { Fault, fault } from '../../api/faults.ts';
import type { ComputeEvent } from '../../api/transport.ts';
import { problemsOfReply, replyCheck } from '../../api/validate.ts';
import { CaptureStopped } from '../../schema/capture.ts';
import { type Capabilities, linkFeatures } from '../../schema/compute.ts';
import { ComputeNode, ComputeUsage } from '../../schema/compute-node.ts';
import { nodeTypes } from '../../schema/node.ts';
import { RunFacts } from '../../schema/node-runs.ts';
import type { Static, TSchema } from '../../schema/type.ts';

interface Refusal {
  /** Name of the compute. */
  readonly name: string;
  readonly request: string;
  readonly status: number;
  /** Code of the error in docs/errors.md, which computes of this program send in a header. */
  readonly code?: string | undefined;
  /** Body of the answer. */
  readonly text: string;
}

/** Codes of errors about a lack on a compute that this server knows by their codes, too. */
const lackCodes = ['docker_failed', 'qemu_binary_missing', 'docker_engine_missing', 'tool_missing', 'capability_missing'] as const;

export function faultOfAnswer({ name, request, status, code, text }: Refusal): Fault {
  const { message, exception, image } = understood(text);
  if (status === 400) return fault('compute_bad_request', { request, message: text });
  if (status === 401) return fault('compute_unauthorized', { name });
  if (status === 403) return fault('compute_forbidden', { message });
  // GNS3 has no PUT for the NIOs of its switches.
  if (status === 404 || status === 405) return fault('compute_route_missing', { request });
  if (status === 408 || status === 504) return fault('compute_timeout', { name, request });
  if (status === 409 && exception === 'ImageMissingError' && image !== undefined)
    return fault('image_missing', { image }, { extra: { image } });
  const lack = lackCodes.find((one) => one === code);
  if (status === 409 && lack !== undefined) return new Fault(lack, message, { ...(image !== undefined && { extra: { image } }) });
  if (status === 409) return fault('compute_error', { message });
  // Only this program sends it.
  if (status === 507) return new Fault(code === 'disk_floor' ? code : 'storage_failed', `Compute '${name}': ${message}`, {});
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
  const { live_moves, sealed_moves, machine_taps, node_runs, number_ranges, image_transfers, incarnations, ...more } = flags;
  return {
    ...more,
    version: typeof version === 'string' ? version : null,
    // Types stay in the compute's own order.
    node_types: Array.isArray(node_types) ? node_types.filter((type) => nodeTypes.includes(type)) : [],
    ...(typeof platform === 'string' && { platform }),
    ...(Array.isArray(link_features) && { link_features: linkFeatures.filter((feature) => link_features.includes(feature)) }),
    ...(number_ranges === true && { number_ranges }),
    ...(live_moves === true && { live_moves }),
    ...(sealed_moves === true && { sealed_moves }),
    ...(machine_taps === true && { machine_taps }),
    ...(node_runs === true && { node_runs }),
    ...(incarnations === true && { incarnations }),
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

/** Size limit of an answer, far above every list of ours: a lab of 10,000 nodes has some 20 MiB. */
const mostAnswerBytes = 128 * 1024 * 1024;

interface AnswerSource {
  /** Name of the compute. */
  readonly name: string;
  readonly request: string;
}

/** Reads an answer up to `mostAnswerBytes`. @throws `compute_reply_invalid`, errors of the connection */
export async function answerText(body: Readable, { name, request }: AnswerSource, mostBytes = mostAnswerBytes): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // Leaving the loop destroys the body, and with it the connection.
    if (bytes > mostBytes)
      throw fault('compute_reply_invalid', { name, request, reason: `it has more than ${mostBytes / 2 ** 20} MiB` });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Schemas of the events that the controller acts on, by action; others are passed on to clients. */
const eventSchemas: Readonly<Record<string, TSchema>> = {
  'capture.stopped': CaptureStopped,
  'node.updated': ComputeNode,
  ping: ComputeUsage,
};

/** Parses the text of an event. Returns undefined for an event of an unexpected form, which is dropped. */
type EventReader = (text: string) => ComputeEvent | undefined;

export async function makeEventReader(): Promise<EventReader> {
  const loading = Object.entries(eventSchemas).map(async ([action, schema]) => [action, await replyCheck(schema)] as const);
  const checks = new Map(await Promise.all(loading));
  const isRun = await replyCheck(RunFacts);
  return (text) => {
    const given = parsed(text);
    if (typeof given !== 'object' || given === null) return undefined;
    const { action, event, project_id, run } = given as Partial<Record<keyof ComputeEvent, unknown>>;
    if (typeof action !== 'string' || typeof event !== 'object' || event === null) return undefined;
    if (checks.get(action)?.(event) === false) return undefined;
    const facts = typeof run === 'object' && run !== null && isRun(run) && { run: run as RunFacts };
    return { action, event, ...(typeof project_id === 'string' && { project_id }), ...facts };
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
