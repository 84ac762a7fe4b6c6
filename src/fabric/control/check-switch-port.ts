/** What a switch's port is said to be: see `check-link.ts`. */
import { fault } from '../../api/faults.ts';

/** Whole numbers from 0 on, by the key that holds one. Sources of the ends: the widths of the fields in the frames. */
const ends: Readonly<Record<string, number>> = {
  dlci: 1023,
  toDlci: 1023,
  vpi: 255,
  toVpi: 255,
  vci: 65_535,
  toVci: 65_535,
  toPort: 2 ** 31 - 1,
};

/** @throws invalid_request saying what is wrong with `port`. */
export function checkSwitchPort(port: Record<string, unknown>, end: string): void {
  if (typeof port.switch !== 'string' || port.switch === '') throw invalid(`the switch of port ${end} has an id`);
  if (!isWhole(port.port, 0, 2 ** 31 - 1)) throw invalid(`the number of port ${end} is a whole number from 0 on`);
  const settings = port.settings as Record<string, unknown> | null | undefined;
  const medium = settings?.medium;
  if (medium === 'ethernet') checkEthernet(settings ?? {}, end);
  else if (medium === 'frame_relay') checkCircuits(settings?.circuits, ['dlci', 'toPort', 'toDlci'], end);
  else if (medium === 'atm') checkCircuits(settings?.circuits, ['vpi', 'toPort', 'toVpi'], end);
  else if (medium !== 'hub') throw invalid(`the medium of port ${end} is not known`);
}

function checkEthernet({ mode, vlan, tagType }: Record<string, unknown>, end: string): void {
  if (mode !== 'access' && mode !== 'dot1q' && mode !== 'qinq') throw invalid(`the mode of port ${end} is access, dot1q or qinq`);
  if (!isWhole(vlan, 1, 4094)) throw invalid(`the VLAN of port ${end} is 1 to 4094`);
  if (!isWhole(tagType, 0, 0xffff)) throw invalid(`the type of tag of port ${end} is 0 to 65535`);
}

function checkCircuits(given: unknown, needed: readonly string[], end: string): void {
  if (!Array.isArray(given)) throw invalid(`the circuits of port ${end} are a list`);
  for (const circuit of given as (Record<string, unknown> | null)[]) {
    for (const key of needed) if (circuit?.[key] === undefined) throw invalid(`a circuit of port ${end} has no ${key}`);
    for (const [key, value] of Object.entries(circuit ?? {})) {
      const last = ends[key];
      if (last === undefined || !isWhole(value, 0, last)) throw invalid(`${key} of a circuit of port ${end} is wrong`);
    }
  }
}

function isWhole(value: unknown, first: number, last: number): boolean {
  return Number.isInteger(value) && Number(value) >= first && Number(value) <= last;
}

function invalid(reason: string): Error {
  return fault('invalid_request', { reason });
}
