/** A part of the canvas and a selection, in the address of a project: `?at=X,Y,PERCENT&select=ID,…`. */
import type { Point } from '../geometry/geometry.ts';
import { scaleLimits } from '../geometry/viewport.ts';

export interface SharedView {
  /** Centre of the view in the scene. */
  readonly centre: Point;
  readonly scale: number;
  readonly ids: readonly string[];
}

/** Limit of the ids in an address. */
const mostIds = 50;
/** Limit of a coordinate; beyond it the canvas could not be drawn. */
const farthest = 1e7;

/** Undefined: the address names no place. */
export function sharedViewOf(search: string): SharedView | undefined {
  const query = new URLSearchParams(search);
  const [x = Number.NaN, y = Number.NaN, percent = Number.NaN] = (query.get('at') ?? '').split(',').map(Number);
  if (![x, y, percent].every(Number.isFinite) || Math.max(Math.abs(x), Math.abs(y)) > farthest) return undefined;
  const scale = Math.min(scaleLimits.highest, Math.max(scaleLimits.lowest, percent / 100));
  const ids = (query.get('select') ?? '').split(',').filter(Boolean).slice(0, mostIds);
  return { centre: { x, y }, scale, ids };
}

export function searchOf({ centre: { x, y }, scale, ids }: SharedView): string {
  const at = `at=${Math.round(x)},${Math.round(y)},${Math.round(scale * 100)}`;
  return ids.length > 0 ? `?${at}&select=${ids.slice(0, mostIds).join(',')}` : `?${at}`;
}
