/** Fields of the display filter that are compared with a value. Source of the names: Wireshark's display filter reference. */
import type { Decoding } from './decode/decoding.ts';

export interface FilterField {
  /** Values of the field in a frame; none when the frame lacks it. */
  readonly values: (decoding: Decoding) => readonly string[];
  readonly type: keyof typeof valueTypes;
}

type Test = (found: string) => boolean;

const addressV4 = /^\d{1,3}(\.\d{1,3}){3}$/;
const number = (most: number) => (value: string) =>
  /^\d+$/.test(value) && Number(value) <= most ? (found: string) => Number(found) === Number(value) : undefined;

/** The test for a value; undefined: not a value of this type. */
export const valueTypes: Readonly<Record<'ipv4' | 'ipv6' | 'mac' | 'port' | 'vlan', (value: string) => Test | undefined>> = {
  ipv4: (value) => {
    const [address = '', bits = '32', ...more] = value.split('/');
    const net = numberOf(address);
    if (net === undefined || more.length > 0 || !/^\d+$/.test(bits) || Number(bits) > 32) return undefined;
    const size = 2 ** (32 - Number(bits));
    return (found) => Math.floor((numberOf(found) ?? -1) / size) === Math.floor(net / size);
  },
  ipv6: (value) => (/^[\da-f:]*:[\da-f:]*$/.test(value) ? (found) => found === value : undefined),
  mac: (value) => {
    const address = value.replaceAll('-', ':');
    return /^[\da-f]{2}(:[\da-f]{2}){5}$/.test(address) ? (found) => found === address : undefined;
  },
  port: number(65_535),
  vlan: number(4_095),
};

/** An IPv4 address as a number. */
function numberOf(address: string): number | undefined {
  const bytes = address.split('.').map(Number);
  if (!addressV4.test(address) || bytes.some((byte) => byte > 255)) return undefined;
  return bytes.reduce((sum, byte) => sum * 256 + byte, 0);
}

const both = { addr: ['Source', 'Destination'], src: ['Source'], dst: ['Destination'] } as const;
const ports = { port: ['Source port', 'Destination port'], srcport: ['Source port'], dstport: ['Destination port'] } as const;

export const filterFields: ReadonlyMap<string, FilterField> = new Map([
  ...fieldsOf('eth', both, { layer: 'Ethernet', type: 'mac' }),
  ...fieldsOf('ip', both, { layer: 'IPv4', type: 'ipv4' }),
  ...fieldsOf('ipv6', both, { layer: 'IPv6', type: 'ipv6' }),
  ...fieldsOf('tcp', ports, { layer: 'TCP', type: 'port' }),
  ...fieldsOf('udp', ports, { layer: 'UDP', type: 'port' }),
  ...fieldsOf('vlan', { id: ['VLAN'] }, { layer: 'VLAN', type: 'vlan' }),
]);

function fieldsOf(
  prefix: string,
  names: Readonly<Record<string, readonly string[]>>,
  { layer, type }: { readonly layer: string; readonly type: FilterField['type'] },
): [string, FilterField][] {
  return Object.entries(names).map(([name, keys]) => {
    const values = ({ layers }: Decoding) =>
      layers.flatMap((one) =>
        one.name === layer ? one.fields.flatMap(([key, value]) => (keys.includes(key) ? [value] : [])) : [],
      );
    return [`${prefix}.${name}`, { type, values }];
  });
}
