/**
 * Answers of QEMU's monitor, checked before they are used: a guest that broke out of QEMU answers as it likes. What is not listed here is
 * ignored. Numbers are bytes, unless they count something. @see QEMU docs/interop/qemu-qmp-ref.html
 */
import { fault } from '../../api/faults.ts';
import { problemsOfReply } from '../../api/validate.ts';
import { type Static, type TSchema, Type } from '../../schema/type.ts';
import type { Monitor } from './monitor.ts';

/** Longest list that is taken: machines have some thirty drives, nodes of drives and jobs, and QEMU knows some hundred machine types. */
const mostItems = 1000;
/** Longest text: names of devices and jobs, states, reasons. */
const text = Type.String({ maxLength: 4096 });
const list = <S extends TSchema>(items: S) => Type.Array(items, { maxItems: mostItems });

const Image = Type.Object({ 'virtual-size': Type.Integer({ minimum: 0 }) });
const Bitmap = Type.Object({ name: Type.Optional(text), count: Type.Integer({ minimum: 0 }) });

/** Answer of `query-block`. */
export const BlockDevices = list(
  Type.Object({
    device: text,
    inserted: Type.Optional(
      Type.Object({
        drv: text,
        'node-name': Type.Optional(text),
        image: Image,
        'dirty-bitmaps': Type.Optional(list(Bitmap)),
      }),
    ),
  }),
);

/** Answer of `query-jobs`. */
export const Jobs = list(Type.Object({ id: text, status: text, error: Type.Optional(text) }));
/** Answer of `query-named-block-nodes`. */
export const BlockNodes = list(Type.Object({ 'node-name': Type.Optional(text) }));
export const Status = Type.Object({ status: text });
export const QemuVersion = Type.Object({ qemu: Type.Object({ major: Type.Integer(), minor: Type.Integer() }) });
/** Answer of `query-machines`. */
export const MachineTypes = list(Type.Object({ name: text, 'default-ram-id': Type.Optional(text) }));
export const Acceleration = Type.Object({ enabled: Type.Boolean() });
export const MemorySize = Type.Object({ 'base-memory': Type.Integer({ minimum: 0 }) });
export const Uuid = Type.Object({ UUID: text });
export const Text = text;

/** Answer of `query-migrate`. */
export const Migration = Type.Object({
  status: Type.Optional(text),
  'error-desc': Type.Optional(text),
  'blocked-reasons': Type.Optional(list(text)),
  ram: Type.Optional(Type.Object({ 'dirty-sync-count': Type.Integer({ minimum: 0 }) })),
});
export type Migration = Static<typeof Migration>;

/** Runs a command whose answer is used. @throws qemu_failed with QEMU's words, or for an answer of another form */
export async function ask<S extends TSchema>(
  monitor: Pick<Monitor, 'execute'>,
  command: string,
  schema: S,
  args?: Readonly<Record<string, unknown>>,
): Promise<Static<S>> {
  const answer = await monitor.execute(command, args);
  const problems = await problemsOfReply(schema, answer);
  if (problems !== undefined) throw fault('qemu_failed', { reason: `QEMU answered ${command} in another form: ${problems}` });
  return answer as Static<S>;
}
