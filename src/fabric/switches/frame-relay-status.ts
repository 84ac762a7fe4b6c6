/**
 * Reports to the peer of a frame relay switch that the line is up and which circuits exist: the network's side of the status procedure of
 * PVCs. Routers take a line to be down that does not answer. Sources: ITU-T Q.933 Annex A, and ANSI T1.617 Annex D, which has the same
 * messages with other numbers behind a shift to codeset 5.
 */
import { frameLength, headerBytes, putFrameLength } from '../frames.ts';

/** Address of DLCI 0, unnumbered information, Q.931's discriminator, no call reference. */
const head = [0x00, 0x01, 0x03, 0x08, 0x00];
const statusEnquiry = 0x75;
const status = 0x7d;
const shiftToCodeset5 = 0x95;
/** Differences of the two dialects: octets before the elements, and the numbers of these. */
const dialects = [
  { prefix: [shiftToCodeset5], report: 0x01, integrity: 0x03, circuit: 0x07 },
  { prefix: [], report: 0x51, integrity: 0x53, circuit: 0x57 },
] as const;
const fullStatus = 0;
const onlyIntegrity = 1;
/** The last octet of a circuit's element: no further one, and whether the other end is there. */
const circuitIsThere = 0x80;
const circuitIsActive = 0x02;
/** Longest answer: some 800 circuits. */
const maxAnswerBytes = 4096;

export interface CircuitState {
  readonly dlci: number;
  readonly isActive: boolean;
}

/** The answers at one port; they are counted. */
export class StatusAnswers {
  readonly #answer = Buffer.alloc(headerBytes + maxAnswerBytes);
  #sequence = 0;

  /** The answer to an enquiry, length-prefixed, in memory that the next one uses again; undefined when the frame is none. */
  to(frame: Buffer, at: number, circuits: Iterable<CircuitState>): Buffer | undefined {
    const asked = readEnquiry(frame, at);
    if (!asked) return undefined;
    const { dialect, report, sequence } = asked;
    // 0 is never counted: it says that nothing was received yet.
    this.#sequence = (this.#sequence % 255) + 1;
    const octets = [...head, status, ...dialect.prefix, dialect.report, 1, report];
    octets.push(dialect.integrity, 2, this.#sequence, sequence);
    if (report === fullStatus) {
      for (const { dlci, isActive } of circuits) {
        if (octets.length + 5 > maxAnswerBytes) break;
        const state = circuitIsThere | (isActive ? circuitIsActive : 0);
        octets.push(dialect.circuit, 3, dlci >> 4, 0x80 | ((dlci & 0xf) << 3), state);
      }
    }
    putFrameLength(this.#answer, 0, octets.length);
    this.#answer.set(octets, headerBytes);
    return this.#answer.subarray(0, headerBytes + octets.length);
  }
}

function readEnquiry(frame: Buffer, at: number) {
  const end = at + headerBytes + frameLength(frame, at);
  const start = at + headerBytes;
  // The bit that distinguishes commands from responses has no meaning here.
  const isHead = head.every((octet, index) => octet === ((frame[start + index] as number) & (index === 0 ? 0xfd : 0xff)));
  if (end - start < head.length + 1 || !isHead || frame[start + head.length] !== statusEnquiry) return undefined;
  const first = start + head.length + 1;
  const dialect = dialects[frame[first] === shiftToCodeset5 ? 0 : 1];
  let report = onlyIntegrity;
  let sequence = 0;
  for (let element = first + dialect.prefix.length; element + 2 < end; element += 2 + (frame[element + 1] as number)) {
    const value = frame[element + 2] as number;
    if (frame[element] === dialect.report) report = value;
    else if (frame[element] === dialect.integrity) sequence = value;
    else return undefined;
  }
  return { dialect, report, sequence };
}
