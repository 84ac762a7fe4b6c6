/** Checks names of files without a folder. */

/** Longest name on common file systems, bytes. */
const maxNameBytes = 255;

/** Returns why a name cannot be a file's in a given folder; undefined when it can. */
export function wrongWithBaseName(name: string): string | undefined {
  if (name === '.' || name === '..' || name.trim() === '') return 'it is no name of a file';
  if ([...name].some((char) => char === '/' || char === '\\' || char < ' ' || char === '\x7f')) {
    return 'it may hold neither slashes nor control characters';
  }
  return Buffer.byteLength(name) > maxNameBytes ? `it is longer than ${maxNameBytes} bytes` : undefined;
}

/** Files beside images that are not images and not listed: checksums and incomplete files. */
export const besideImages = /^\.|\.(?:md5sum|tmp)$/;

/**
 * Returns why a new image may not have this name. Programs would take a dash for an option, and control characters are invisible.
 */
export function refuseImageName(name: string): string | undefined {
  if (/\p{Cc}|\p{Cs}/u.test(name)) return 'it holds control characters';
  return /(?:^|\/)-/.test(name) ? 'it begins with a dash' : undefined;
}
