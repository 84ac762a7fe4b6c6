import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type SymbolShape, symbolShapes } from './symbol-shapes.ts';

const shapes: readonly SymbolShape[] = Object.values(symbolShapes);
/** Strokes of a glyph: each begins with a move. */
const strokesOf = (glyph: string) => glyph.match(/m/gi)?.length ?? 0;

describe('glyphs of small tiles', () => {
  it('have few strokes, and no more than the large ones', () => {
    for (const { glyph, small } of shapes) {
      assert.ok(strokesOf(small) <= 5 && strokesOf(small) <= strokesOf(glyph), small);
      assert.ok(small.length <= glyph.length, small);
    }
  });

  it('differ from each other', () => {
    const glyphs = shapes.map(({ small, round = false, role }) => `${small} ${round} ${role}`);
    assert.equal(new Set(glyphs).size, shapes.length);
  });
});
