/** Names of files without a folder. */

/** Longest on common file systems, in bytes. */
const maxNameBytes = 255;

/** Why a name cannot be that of a file in a given folder; undefined when it can. */
export function wrongWithBaseName(name: string): string | undefined {
  if (name === '.' || name === '..' || name.trim() === '') return 'it is no name of a file';
  if ([...name].some((char) => char === '/' || char === '\\' || char < ' ' || char === '\x7f')) {
    return 'it may hold neither slashes nor control characters';
  }
  return Buffer.byteLength(name) > maxNameBytes ? `it is longer than ${maxNameBytes} bytes` : undefined;
}

/** Files beside images that are none, and are not listed: checksums, and what has not arrived as a whole. */
export const besideImages = /^\.|\.(?:md5sum|tmp)$/;

/** Why a new image may not have this name; programs would take a dash for an option, and people would not see what they choose. */
export function refuseImageName(name: string): string | undefined {
  if (/\p{Cc}|\p{Cs}/u.test(name)) return 'it holds control characters';
  return /(?:^|\/)-/.test(name) ? 'it begins with a dash' : undefined;
}
