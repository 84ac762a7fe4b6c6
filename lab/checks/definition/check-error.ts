/** An error in `checks` or `test` of a lab file, with its path and reason. */
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

/** Returns the value of `read`; adds the path to its error. */
export function placed<T>(path: CheckPath, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof CheckError ? error : new CheckError(path, (error as Error).message);
  }
}
