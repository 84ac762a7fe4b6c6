/** The size of names at a scale. */

/** Size of the names of nodes in the scene, and the least on the screen. */
const namePx = { standard: 12, least: 9 };

/** Changes in steps: each renders all names. */
export function nameSizePx(scale: number): number {
  return Math.max(namePx.standard, 2 * Math.ceil(namePx.least / scale / 2));
}
