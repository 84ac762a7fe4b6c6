/** Computes a layout beside the page: a thousand nodes take a second. */
import { type LayoutGraph, layout } from './layouts.ts';

addEventListener('message', ({ data }: MessageEvent<LayoutGraph>) => postMessage(layout(data)), { once: true });
