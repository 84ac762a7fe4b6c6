/** MAC addresses as text: six pairs of lower-case hex digits, colon separated. */

/** The address `step` after `base`, as a 48-bit number that wraps at its end. */
export function macPlus(base: string, step: number): string {
  const value = (Number.parseInt(base.replaceAll(':', ''), 16) + step) % 2 ** 48;
  const digits = value.toString(16).padStart(12, '0');
  return digits.match(/../g)?.join(':') ?? base;
}

/** `0c:` and three bytes of the node's id: GNS3's rule, so that a node keeps its addresses across computes and servers. */
export function macOfNode(nodeId: string): string {
  const [, second, third, fourth] = nodeId.toLowerCase().match(/../g) ?? [];
  return `0c:${second}:${third}:${fourth}:00:00`;
}
