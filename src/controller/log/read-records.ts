/** Records as they come from disk: each is checked before it is used. */
import { setImmediate as turn } from 'node:timers/promises';
import { problemsOf } from '../../api/validate.ts';
import { JournalDamaged } from '../../lib/journal.ts';
import { asStored, nullable, strict } from '../../schema/common.ts';
import { type TSchema, Type } from '../../schema/type.ts';
import { actionRules, isAction } from './actions/actions.ts';
import { UdpPortPair } from './actions/marker-rules.ts';
import type { Action, LogRecord } from './records.ts';

/** Records that are checked before other requests have their turn. */
const recordsPerTurn = 500;

const seq = Type.Integer({ minimum: 0 });

const schemas = Object.fromEntries(Object.entries(actionRules).map(([action, { schema }]) => [action, schemaOf(action, schema)]));

function schemaOf(action: string, { event, was }: { event: TSchema; was: TSchema }): TSchema {
  const fields = {
    seq,
    at: Type.String(),
    by: nullable(Type.String()),
    step: Type.Optional(seq),
    inverts: Type.Optional(seq),
    udp_ports: Type.Optional(UdpPortPair),
  };
  return asStored(Type.Object({ ...fields, action: Type.Literal(action), event, was }, strict));
}

/**
 * The records of a file's lines.
 * @throws JournalDamaged for an unknown action or a record of another form
 */
export async function checkRecords(lines: readonly unknown[]): Promise<LogRecord[]> {
  const records = lines.flat();
  for (const [index, record] of records.entries()) {
    if (index % recordsPerTurn === recordsPerTurn - 1) await turn();
    const reason = await wrongWith(record);
    if (reason !== undefined)
      throw new JournalDamaged(`record ${seqOf(record) ?? `at position ${index + 1}`} of its log ${reason}`);
  }
  return records as LogRecord[];
}

async function wrongWith(record: unknown): Promise<string | undefined> {
  const action = (record as { action?: unknown } | null)?.action;
  if (typeof action !== 'string') return 'has no action';
  if (!isAction(action)) return `has the unknown action ${action.slice(0, 100)}`;
  const problems = await problemsOf(schemas[action satisfies Action] as TSchema, record);
  return problems === undefined ? undefined : `has another form than ${action} has: ${problems}`;
}

function seqOf(record: unknown): number | undefined {
  const number = (record as { seq?: unknown } | null)?.seq;
  return typeof number === 'number' ? number : undefined;
}
