/** What is known of a disk image from its header. */

/** Formats that are used; a file of none of them is raw. */
export const imageFormats = ['raw', 'qcow2', 'qcow', 'vmdk', 'vdi', 'vpc', 'vhdx'] as const;
export type ImageFormat = (typeof imageFormats)[number];

export interface DiskImage {
  readonly format: ImageFormat;
  /** What it is the difference to. */
  readonly backing?: Backing;
}

export interface Backing {
  /** As written in the header: relative to the image's folder, absolute, or `json:{…}`. */
  readonly file: string;
  /** Undefined when the header does not say. */
  readonly format: string | undefined;
}

/** The image is damaged, or has a format that is not used. `message` follows "the image … is refused:". */
export class DiskImageError extends Error {
  override readonly name: string = 'DiskImageError';
}

/** The image refers to what none may refer to: it is refused wherever it goes. */
export class ForeignReferenceError extends DiskImageError {
  override readonly name = 'ForeignReferenceError';
}

/** Reads `length` bytes from `position`, less at the end of the file. */
export type ReadAt = (position: number, length: number) => Promise<Buffer>;
