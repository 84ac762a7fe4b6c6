/**
 * Whether frames can be redirected from one interface to another here: two TAP interfaces of our own, one frame written to the first,
 * and read at the second. A kernel may lack the parts, or accept the rules and lose the frames. Nothing is left behind: the interfaces
 * go with their descriptors, and the rules with the interfaces.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { getSystemErrorName } from 'node:util';
import type { BatchTool } from '../../process/batch-tool.ts';
import { runTool } from '../../process/tool.ts';
import { maxFrameBytes } from '../frames.ts';
import type { InterfacePlace } from '../ports/interface-place.ts';
import type { Native } from '../ports/native.ts';
import { redirect, takeRules, testPrefix } from '../redirection.ts';

const toolLimitMs = 5000;
const frameLimitMs = 1000;
const pollMs = 2;
const frameBytes = 60;
const macBytes = 6;
/** Local experimental EtherType. Source: IEEE 802-2014 §9.2.4 */
const etherType = 0x88b5;

/** Undefined when it works, otherwise the reason. */
export async function testRedirection(native: Native, tc: BatchTool, place: InterfacePlace): Promise<string | undefined> {
  const id = randomBytes(4).toString('hex');
  const names = [`${testPrefix}${id}a`, `${testPrefix}${id}b`] as const;
  const opened = await Promise.all(names.map((name) => place.openTap(native, name, { isTemporary: true })));
  try {
    const [from = -1, to = -1] = opened;
    const failed = opened.find((descriptor) => descriptor < 0);
    if (failed !== undefined) return `TAP interfaces cannot be made (${getSystemErrorName(failed)})`;
    for (const name of names) {
      const [program = '', ...args] = [...place.enter, 'ip', 'link', 'set', 'dev', name, 'up'];
      const { code, reason } = await runTool(program, args, { timeoutMs: toolLimitMs });
      if (code !== 0) return `ip: ${reason}`;
    }
    const { reason } = await tc.run([takeRules(names[0]), redirect(...names)]);
    if (reason !== '') return `tc cannot redirect frames: ${reason}`;
    return await sendFrame(native, from, to);
  } finally {
    for (const descriptor of opened) if (descriptor >= 0) native.close(descriptor);
  }
}

/** The second interface also has frames of the host itself. */
async function sendFrame(native: Native, from: number, to: number): Promise<string | undefined> {
  const frame = Buffer.alloc(frameBytes, randomBytes(frameBytes));
  // Addresses of sender and receiver are locally administered, and not group addresses.
  frame[0] = 0x02;
  frame[macBytes] = 0x02;
  frame.writeUInt16BE(etherType, 2 * macBytes);
  const sent = native.write(from, frame, 0, frame.length);
  if (sent < 0) return `a TAP interface takes no frame (${getSystemErrorName(sent)})`;
  const buffer = Buffer.allocUnsafeSlow(maxFrameBytes);
  for (const limit = performance.now() + frameLimitMs; performance.now() < limit; ) {
    const length = native.read(to, { buffer, at: 0, room: buffer.length });
    if (length === frameBytes && buffer.subarray(0, length).equals(frame)) return undefined;
    if (length <= 0) await sleep(pollMs);
  }
  return 'the kernel takes the rules and loses the frames';
}
