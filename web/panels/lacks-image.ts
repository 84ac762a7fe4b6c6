/** Tells failures that an image repairs; not those of images of containers, which their engine pulls. */
import type { Node } from '../../src/schema/node.ts';

const ofImages = /\b(image|IOS|IOU)\b/;

/** `code`: of the failure in docs/errors.md, if it has one. */
export function lacksImage({ node_type }: Node, failure: string, code = ''): boolean {
  return node_type !== 'docker' && (code.startsWith('image_') || ofImages.test(failure));
}
