/** Describes a disk image by its header. */

/** Supported formats; a file with no other format's header is raw. */
export const imageFormats = ['raw', 'qcow2', 'qcow', 'vmdk', 'vdi', 'vpc', 'vhdx'] as const;
export type ImageFormat = (typeof imageFormats)[number];

export interface DiskImage {
  readonly format: ImageFormat;
  /** The image of which this one stores only the differences. */
  readonly backing?: Backing;
}

export interface Backing {
  /** The header's text: relative to the image's folder, absolute, or `json:{…}`. */
  readonly file: string;
  /** Undefined when the header has no format. */
  readonly format: string | undefined;
}

/** The image is damaged, or its format is not supported. `message` follows "the image … is refused:". */
export class DiskImageError extends Error {
  override readonly name: string = 'DiskImageError';
}

/** The image refers to something that no image may refer to: it is refused for every use. */
export class ForeignReferenceError extends DiskImageError {
  override readonly name = 'ForeignReferenceError';
}

/** Reads `length` bytes from `position`, less at the end of the file. */
export type ReadAt = (position: number, length: number) => Promise<Buffer>;
