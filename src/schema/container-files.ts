/** Says which files of a container's node folder the container sees. Lab plans and the server read it. */

/** Returns whether a path in the node's folder is below one of the volumes, or one of the kind's own files or their folders. */
export function isInVolumes(path: string, volumes: unknown, ownFiles: readonly string[]): boolean {
  const place = `/${path}`;
  const named = Array.isArray(volumes) ? volumes.filter((one) => typeof one === 'string') : [];
  const own = ownFiles.filter((file) => file.includes('/')).map((file) => `/${file.slice(0, file.lastIndexOf('/'))}`);
  const isBelow = (folder: string) => place.startsWith(`${folder.replace(/\/+/g, '/').replace(/\/$/, '')}/`);
  return ownFiles.includes(path) || own.some(isBelow) || named.some((folder) => /[^/]/.test(folder) && isBelow(folder));
}

/** Path below a compute's kinds at which it tells the volumes that an image declares: `{ volumes }`, null where it does not have the image. Not percent-encoded. */
export const imageVolumesPath = (image: string): string => `image_volumes/${image}`;

/**
 * Returns the sentence for users about a file outside of `extra_volumes`; undefined where the container sees it. `declared`: volumes of the
 * image; undefined: they are not known.
 */
export function unseenFile(node: string, path: string, declared: readonly string[] | undefined): string | undefined {
  if (declared === undefined)
    return `The container of ${node} sees the file ${path} only if its image declares a volume there: add its folder to extra_volumes`;
  if (isInVolumes(path, declared, [])) return undefined;
  return `The container of ${node} does not see the file ${path}, as neither its image nor extra_volumes has a volume there: add its folder to extra_volumes`;
}
