/** Events of remote computes: those that another program or version sends in another form are dropped. */
import type { ComputeEvent } from '../../api/transport.ts';
import { replyCheck } from '../../api/validate.ts';
import { CaptureStopped } from '../../schema/capture.ts';
import { ComputeNode, ComputeUsage } from '../../schema/compute-node.ts';
import { RunFacts } from '../../schema/node-runs.ts';
import type { TSchema } from '../../schema/type.ts';

/** Forms of the events whose content is acted on, by action; others are passed on to clients. */
const schemas: Readonly<Record<string, TSchema>> = {
  'capture.stopped': CaptureStopped,
  'node.updated': ComputeNode,
  ping: ComputeUsage,
};

/** Reads the text of an event; undefined when it is none. */
export type EventReader = (text: string) => ComputeEvent | undefined;

export async function makeEventReader(): Promise<EventReader> {
  const loading = Object.entries(schemas).map(async ([action, schema]) => [action, await replyCheck(schema)] as const);
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
