/** Passing marks on the canvas, while a gesture lasts. */
import type { LinkEnd } from '../../src/schema/link.ts';
import type { Box, Point } from '../geometry/geometry.ts';

export interface Sketch {
  readonly box?: Box;
  readonly wire?: { readonly from: LinkEnd; readonly to: Point };
}
