/**
 * Circuits of switches that forward by numbers in the frames: `mappings` joins one end, `port:number…`, to another. The kinds differ
 * in how many numbers an end has and in how large they may be.
 */
import { fault } from '../../api/faults.ts';
import type { Port } from '../../schema/node.ts';
import { Type } from '../../schema/type.ts';
import type { Properties } from '../driver.ts';
import { bodySchemas } from '../facts/always-running.ts';

/** A port, and the circuit's numbers there. */
interface CircuitEnd {
  readonly port: number;
  readonly numbers: readonly number[];
}

export interface CircuitRules {
  /** Form of an end's numbers in messages: `port:dlci`. */
  readonly form: string;
  /** Whether these can be the numbers of a circuit's end. */
  readonly accepts: (numbers: readonly number[]) => boolean;
}

const maxPort = 65_535;

/** Bodies of create and update. */
export const circuitSchemas = (form: string) =>
  bodySchemas({
    mappings: Type.Optional(
      Type.Record(Type.String(), Type.String(), { description: `One end of a circuit to the other, each ${form}` }),
    ),
  });

/** The mappings of a request, if they can be used. @throws invalid_request */
export function checkMappings(mappings: unknown, rules: CircuitRules): Record<string, string> {
  const given = (mappings ?? {}) as Record<string, string>;
  const used = new Set<string>();
  for (const pair of Object.entries(given)) {
    const ends = pair.map((text) => {
      const end = readEnd(text);
      if (!end || end.port > maxPort || !rules.accepts(end.numbers)) throw invalid(`"${text.slice(0, 50)}" is not ${rules.form}`);
      const key = [end.port, ...end.numbers].join(':');
      if (used.has(key)) throw invalid(`the circuit ${key} is used twice`);
      used.add(key);
      return end;
    });
    if (ends[0]?.numbers.length !== ends[1]?.numbers.length)
      throw invalid(`the two ends of "${pair.join('": "')}" are not of one form`);
  }
  return given;
}

/** Circuits that begin at a port, in both directions of the mappings. */
export function circuitsOf(properties: Properties, port: number): { own: readonly number[]; other: CircuitEnd }[] {
  const found: { own: readonly number[]; other: CircuitEnd }[] = [];
  for (const [one, other] of Object.entries(properties.mappings as Record<string, string>)) {
    const [a, b] = [readEnd(one), readEnd(other)];
    if (!a || !b) continue;
    if (a.port === port) found.push({ own: a.numbers, other: b });
    if (b.port === port) found.push({ own: b.numbers, other: a });
  }
  return found;
}

/** Each port that a mapping names, by number; its name is its number. */
export function circuitPorts(properties: Properties, dataLinkTypes: Record<string, string>): Port[] {
  const mappings = (properties.mappings ?? {}) as Record<string, string>;
  const numbers = new Set(Object.entries(mappings).flatMap((pair) => pair.map((text) => Number.parseInt(text, 10))));
  return [...numbers]
    .filter((number) => number >= 0 && number <= maxPort)
    .sort((one, other) => one - other)
    .map((number) => ({
      adapter_number: 0,
      port_number: number,
      name: String(number),
      short_name: String(number),
      link_type: 'serial',
      data_link_types: dataLinkTypes,
    }));
}

function readEnd(text: string): CircuitEnd | undefined {
  if (!/^\d{1,6}(:\d{1,6}){1,2}$/.test(text)) return undefined;
  const [port = 0, ...numbers] = text.split(':').map(Number);
  return { port, numbers };
}

function invalid(reason: string): Error {
  return fault('invalid_request', { reason: `mappings: ${reason}` });
}
