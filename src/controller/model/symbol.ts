/** A node's symbol: its stored id, its size, and where the label stands relative to it. */

export const defaultSymbol = ':/symbols/computer.svg';

/** Pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** The symbol as it is stored: the default for none, the file's name for a path of the client's machine. */
export function symbolOf(given: string | null | undefined): string {
  if (!given) return defaultSymbol;
  return given.startsWith('/') ? given.slice(given.lastIndexOf('/') + 1) || defaultSymbol : given;
}
