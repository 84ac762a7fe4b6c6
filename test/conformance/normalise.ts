/** Makes answers of two servers comparable: what differs from run to run becomes a word in angle brackets. */
import { readdirSync } from 'node:fs';

/** Figures of a host and of a moment. */
const volatile = new Set([
  'cpu_usage_percent',
  'memory_usage_percent',
  'memory_total',
  'memory_free',
  'memory_used',
  'load_average_percent',
  'disk_usage_percent',
  'created_at',
  'md5sum',
]);
const ports = new Set(['console', 'lport', 'rport', 'port']);
/** Network interfaces of the recording and of this host, without the loopback. Links are made and removed while tests run. */
const hostInterface = new RegExp(`^(eth|ifb|pb|veth|docker|br-|tap|tun|vx)[\\w-]*$|^(${readdirSync('/sys/class/net').join('|')})$`);
const patterns: readonly [RegExp, string][] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, '<uuid>'],
  [/(<data>|<work>|\/tmp)\/[^\s'",]*/g, '<path>'],
  [/\b[0-9a-f]{2}(:[0-9a-f]{2}){5}\b/g, '<mac>'],
  [/\b2\.2\.60(\.dev1)?/g, '<version>'],
  [/\b(3080|5\d{3}|[1-6]\d{4})\b/g, '<port>'],
  [/\d{4}-\d\d-\d\d at \d\d:\d\d:\d\d/g, '<date>'],
  [/(?<!\w)(\/usr)?\/bin\/qemu/g, '<bin>/qemu'],
];

export function normalise(value: unknown, key?: string): unknown {
  if (key !== undefined && volatile.has(key)) return `<${key}>`;
  // Programs are called in each server's own way.
  if (key === 'command_line' && typeof value === 'string') return value === '' ? value : '<command line>';
  if (key === 'message' && typeof value === 'string') return '<message>';
  if (key !== undefined && ports.has(key) && typeof value === 'number') return '<port>';
  if (key !== undefined && /^(console|udp)_port(s|_range)$/.test(key)) return '<ports>';
  if (typeof value === 'string') return normaliseText(value);
  if (Array.isArray(value)) return withOneInterface(value).map((item) => normalise(item));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [normaliseText(name), normalise(item, name)]));
}

/** Replaces the interfaces that a host has beside its loopback by the first, without its name and addresses. */
function withOneInterface(items: readonly unknown[]): readonly unknown[] {
  const isInterface = (item: unknown) =>
    isObject(item) && typeof item.name === 'string' && item.name !== 'lo' && hostInterface.test(item.name);
  const first = items.find(isInterface);
  if (!isObject(first)) return items;
  const kept = { id: '<interface>', interface: '<interface>', short_name: '<interface>', ip_address: '<ip>', netmask: '<ip>' };
  const known = Object.fromEntries(Object.entries(kept).filter(([key]) => first[key]));
  return [{ ...first, ...known, name: '<interface>' }, ...items.filter((item) => !isInterface(item))];
}

function normaliseText(text: string): string {
  return patterns.reduce((result, [pattern, word]) => result.replace(pattern, word), text);
}

export interface Difference {
  /** `status`, `type`, `route`, or a place in the body such as `body[0].label.x`. */
  readonly where: string;
  readonly gns3: string;
  readonly ours: string;
}

/** Where two normalised values differ. `part`: keys that only `ours` has do not count. */
export function differences(gns3: unknown, ours: unknown, where: string, part = false): Difference[] {
  if (Array.isArray(gns3) && Array.isArray(ours) && gns3.length === ours.length) {
    return gns3.flatMap((item, index) => differences(item, ours[index], `${where}[${index}]`, part));
  }
  if (isObject(gns3) && isObject(ours)) {
    const keys = new Set([...Object.keys(gns3), ...(part ? [] : Object.keys(ours))]);
    return [...keys].sort().flatMap((key) => differences(gns3[key], ours[key], `${where}.${key}`, part));
  }
  const [one, other] = [shown(gns3), shown(ours)];
  return one === other ? [] : [{ where, gns3: one, ours: other }];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function shown(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 160);
}
