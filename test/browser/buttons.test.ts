/** Buttons are readable in every state, in both themes. WCAG 2.1 asks for a contrast of 4.5; for disabled buttons we ask for 3. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { openTab } from '../support/browser.ts';
import { withServer } from '../support/with-server.ts';

const { server } = await withServer();

const kinds = ['plain', 'primary', 'danger', 'quiet'];
const states = ['usual', 'hovered', 'focused', 'held', 'pressed', 'disabled'] as const;
type State = (typeof states)[number];

/** Runs in the page: contrast of a button's text with its background, as rendered now. */
const contrastInPage = `(button) => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const pixel = (...layers) => {
    canvas.clearRect(0, 0, 1, 1);
    for (const { colour, alpha } of layers) {
      canvas.globalAlpha = alpha;
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
    }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const style = getComputedStyle(button);
  const alpha = Number(style.opacity);
  const ground = { colour: getComputedStyle(button.parentElement).backgroundColor, alpha: 1 };
  const plate = { colour: style.backgroundColor, alpha };
  const [behind, ink] = [pixel(ground, plate), pixel(ground, plate, { colour: style.color, alpha })];
  const [dark, light] = [luminance(behind), luminance(ink)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}`;

async function contrastOf(page: Page, kind: string, state: State): Promise<number> {
  const button = page.locator(`#specimens .${kind}.${state === 'pressed' || state === 'disabled' ? state : 'free'}`);
  await page.mouse.move(0, 0);
  await page.mouse.up();
  if (state === 'hovered' || state === 'held') await button.hover();
  if (state === 'held') await page.mouse.down();
  if (state === 'focused') await button.focus();
  await page.evaluate('Promise.all(document.getAnimations().map((animation) => animation.finished))');
  return page.evaluate<number>(
    `(${contrastInPage})(document.querySelector('#specimens .${kind}.${
      state === 'pressed' || state === 'disabled' ? state : 'free'
    }'))`,
  );
}

for (const dark of [false, true])
  describe(`a button’s text in the ${dark ? 'dark' : 'light'} theme`, async () => {
    const { page } = await openTab(server.url, { dark });
    const specimens = kinds.map(
      (kind) =>
        `<button class="button ${kind} free">Text</button><button class="button ${kind} pressed" aria-pressed="true">Text</button>` +
        `<button class="button ${kind} disabled" disabled>Text</button>`,
    );
    await page.evaluate(`(() => {
      const box = document.createElement('div');
      box.id = 'specimens';
      box.style = 'position: fixed; inset: 40px; z-index: 1000; background: var(--surface)';
      box.innerHTML = ${JSON.stringify(specimens.join(''))};
      document.body.append(box);
    })()`);
    for (const kind of kinds)
      for (const state of states)
        it(`has enough contrast when it is ${kind} and ${state}`, async () => {
          const contrast = await contrastOf(page, kind, state);
          const least = state === 'disabled' ? 3 : 4.5;
          assert.ok(contrast >= least, `${contrast.toFixed(2)}, less than ${least}`);
        });
  });
