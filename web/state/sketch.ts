/** Temporary marks on the canvas during a gesture. */
import type { LinkEnd } from '../../src/schema/link.ts';
import type { Box, Point } from '../geometry/geometry.ts';
import type { Guide } from '../geometry/snapping.ts';

export interface Sketch {
  readonly box?: Box;
  /** Guides to which a dragged item was aligned. */
  readonly guides?: readonly Guide[];
  readonly wire?: { readonly from: LinkEnd; readonly to: Point };
}
