/** Text is readable on every background of the page, in both themes: WCAG 2.1 asks for a contrast of 4.5. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';

const css = await readFile(new URL('theme.css', import.meta.url), 'utf8');
const pairs = [...css.matchAll(/--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);/g)];
const themes = (['light', 'dark'] as const).map((name, place) => ({
  name,
  colours: new Map(pairs.map(([, key = '', ...values]) => [key, values[place] ?? ''])),
}));
const inks = ['ink', 'ink-soft', 'ink-faint', 'bad', 'good-ink', 'warn-ink'];
const grounds = ['ground', 'canvas', 'surface', 'raised'];

/** Relative luminance of `#rrggbb`, 0 to 1. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

describe('the colours of text', () => {
  it('have a value for each theme, in one place', () => {
    assert.ok(pairs.length > 20, `${pairs.length} pairs`);
    assert.doesNotMatch(css, /prefers-color-scheme/);
  });

  for (const { name, colours } of themes)
    it(`stand out in ${name}`, () => {
      for (const ink of inks)
        for (const ground of grounds) {
          const [one, other] = [colours.get(ink), colours.get(ground)];
          assert.ok(one && other, `${ink} on ${ground}`);
          assert.ok(contrast(one, other) >= 4.5, `${ink} on ${ground}: ${contrast(one, other).toFixed(2)}`);
        }
    });
});
