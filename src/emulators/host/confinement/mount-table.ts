/** Mounts of a namespace as a table for `mount --all --fstab`: one process makes them all. @see fstab(5) */

export interface Mount {
  /** What is mounted: a path for `bind` and `rbind`, a name otherwise. */
  readonly source: string;
  /** Absolute. */
  readonly target: string;
  /** Default `none`, which is what binds have. */
  readonly type?: string;
  readonly options: string;
}

/** @returns one line for each mount, in order */
export function mountTable(mounts: readonly Mount[]): string {
  const lines = mounts.map(({ source, target, type = 'none', options }) => {
    return `${escapeField(source)} ${escapeField(target)} ${type} ${options} 0 0\n`;
  });
  return lines.join('');
}

/** Fields end at white space, and a line that begins with `#` is a comment; both can stand in a path as octal escapes. */
function escapeField(text: string): string {
  return text.replace(/[\s\\#]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`);
}
