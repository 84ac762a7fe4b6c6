/** The outcome of a step, and the format of its figures. */
import type { Row } from './table.ts';

export type Outcome = Omit<Row, 'step'>;

export const round = (value: number) => Math.round(value * 10) / 10;
export const ms = (value: number) => `${value.toFixed(1)} ms`;
export const seconds = (valueMs: number) => `${(valueMs / 1000).toFixed(1)} s`;
