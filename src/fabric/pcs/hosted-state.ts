/** A PC of the process as JSON, for freezing: what it is, and what waits for it. Bytes are hexadecimal digits. */
import { list, object, textThat, type ValueOf } from '../../lib/shape.ts';
import { pcState } from './pc-shapes.ts';

const hex = textThat((value) => value.length <= 1 << 20 && /^(?:[0-9a-f]{2})*$/.test(value), 'must be bytes in hexadecimal');

export const hostedState = object({
  pc: pcState,
  /** Last output of its console. */
  history: hex,
  /** Typed, and not taken yet. */
  input: hex,
  /** Frames that the link has delivered and the PC has not seen. */
  arrived: list(hex),
  /** Frames that the PC has sent and the link has not taken. */
  leaving: list(hex),
});
export type HostedState = ValueOf<typeof hostedState>;
