/** The form of the rows in `documented-examples.ts` and `documented-kinds.ts`. */

export interface Example {
  /** `<name>` stands for a value of an earlier answer, in a body `#<name>` for a number. */
  readonly call: string;
  readonly body?: unknown;
  readonly raw?: string;
  readonly status: number;
  /** Fields that the answer, or the first of a list, has; separated by blanks. */
  readonly fields?: string;
  /** Name to field of the answer. */
  readonly save?: Readonly<Record<string, string>>;
}

export type Row = readonly [call: string, status: number, more?: Omit<Example, 'call' | 'status'>];
export const examples = (rows: readonly Row[]): Example[] => rows.map(([call, status, more = {}]) => ({ call, status, ...more }));
