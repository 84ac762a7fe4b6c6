/**
 * What is found out about a frame. Names of protocols and of their fields are the field's own terms, the same in every language, and
 * stand in the decoders.
 */
import type { View } from './view.ts';

export interface Layer {
  readonly name: string;
  /** Where its header stands in the frame. */
  readonly at: number;
  readonly length: number;
  readonly fields: readonly (readonly [name: string, value: string])[];
}

export class Decoding {
  /** The innermost protocol that is known. */
  protocol = '?';
  source = '';
  destination = '';
  /** What the frame says, in a line. */
  info = '';
  /** Every address that stands in it, for the display filter. */
  readonly hosts: string[] = [];
  readonly ports: number[] = [];
  readonly layers: Layer[] = [];
  /** It ends before it should. */
  isCut = false;

  /** Adds a header; what came before it is outer. */
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

/** Reads one header at a place, and calls for what is inside. @throws RangeError when the frame ends before it should */
export type Decoder = (view: View, at: number, out: Decoding) => void;
