/** Names the client of a connection for limits that all connections of one client share. */

/**
 * Returns an IPv4 address, also one mapped into IPv6, or the first 64 bits of an IPv6 address, because one host may use that whole
 * prefix.
 */
export function clientKey(address = ''): string {
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1];
  if (mapped !== undefined || !address.includes(':')) return mapped ?? address;
  const [head = '', tail] = address.split('::');
  const groups = head === '' ? [] : head.split(':');
  const rest = tail === undefined || tail === '' ? [] : tail.split(':');
  const all = tail === undefined ? groups : [...groups, ...Array(Math.max(0, 8 - groups.length - rest.length)).fill('0'), ...rest];
  return `${all.slice(0, 4).join(':')}::/64`;
}
