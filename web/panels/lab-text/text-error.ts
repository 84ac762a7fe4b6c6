/** An error in the text of a lab, as the server reports it. */
export interface TextError {
  readonly message: string;
  /** Number of the line, from 1; undefined: the error has no place in the text. */
  readonly line?: number;
  readonly column?: number;
}

/** Name of the text in requests and errors. */
export const labFileName = 'lab.yaml';

/** Finds the place in a message: `… lab.yaml:3:5: there is no node "X"`. */
export function textErrorOf(message: string): TextError {
  const [, line, column, words = ''] = /\blab\.yaml:(\d+):(\d+): (.*)$/s.exec(message) ?? [];
  return line === undefined ? { message } : { message: words, line: Number(line), column: Number(column) };
}
