/** An error in `checks` or `test` of a lab file: where it is, and what is wrong. */
export type CheckPath = readonly (string | number)[];

export class CheckError extends Error {
  override readonly name = 'CheckError';
  readonly path: CheckPath;

  constructor(path: CheckPath, message: string) {
    super(`${pathText(path)}: ${message}`);
    this.path = path;
  }
}

function pathText(path: CheckPath): string {
  return path.map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`)).join('');
}

/** The value of `read`; its error gets the place. */
export function placed<T>(path: CheckPath, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof CheckError ? error : new CheckError(path, (error as Error).message);
  }
}
