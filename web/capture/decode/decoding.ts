/**
 * The decoded headers of a frame. Names of protocols and of their fields are standard terms, the same in every language, and
 * are defined in the decoders.
 */
import type { View } from './view.ts';

export interface Layer {
  readonly name: string;
  /** Offset and length of the header in the frame. */
  readonly at: number;
  readonly length: number;
  readonly fields: readonly (readonly [name: string, value: string])[];
}

export class Decoding {
  /** The innermost known protocol. */
  protocol = '?';
  source = '';
  destination = '';
  /** Summary of the frame in one line. */
  info = '';
  /** Every address in the frame, for the display filter. */
  readonly hosts: string[] = [];
  readonly ports: number[] = [];
  readonly layers: Layer[] = [];
  /** The frame is truncated. */
  isCut = false;

  /** Adds a header; earlier headers enclose it. */
  add(layer: Layer, summary: { readonly from?: string; readonly to?: string; readonly info?: string } = {}): void {
    this.layers.push(layer);
    this.protocol = layer.name;
    const { from, to, info } = summary;
    if (from !== undefined) {
      this.source = from;
      this.hosts.push(from);
    }
    if (to !== undefined) {
      this.destination = to;
      this.hosts.push(to);
    }
    if (info !== undefined) this.info = info;
  }
}

/** Decodes one header at an offset, then its payload. @throws RangeError when the frame is truncated */
export type Decoder = (view: View, at: number, out: Decoding) => void;
