/** Passing marks on the canvas, while a gesture lasts. */
import type { LinkEnd } from '../../src/schema/link.ts';
import type { Box } from '../scene/geometry.ts';
import type { Point } from './project.ts';

export interface Sketch {
  readonly box?: Box;
  readonly wire?: { readonly from: LinkEnd; readonly to: Point };
}
