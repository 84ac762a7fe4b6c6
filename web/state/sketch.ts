/** Temporary marks on the canvas during a gesture. */
import type { LinkEnd } from '../../src/schema/link.ts';
import type { Box, Point } from '../geometry/geometry.ts';

export interface Sketch {
  readonly box?: Box;
  readonly wire?: { readonly from: LinkEnd; readonly to: Point };
}
