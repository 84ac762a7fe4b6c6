/** Nodes that are PCs (VPCS): they can be asked for addresses, and to ping. */
import type { Node } from '../../src/schema/node.ts';

export const isPc = ({ node_type }: Node): boolean => node_type === 'vpcs';
