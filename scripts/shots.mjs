/** `npm run shots [-- FOLDER]`: writes pictures of every view of the page in both themes, and `index.html`, which shows them in pairs. */
import { spawnSync } from 'node:child_process';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

if (process.argv.includes('--help')) {
  console.log('Usage: npm run shots [-- FOLDER]    (default: .cache/shots)');
  process.exit(0);
}
const folder = resolve(process.argv[2] ?? '.cache/shots');
rmSync(folder, { recursive: true, force: true });
const { status } = spawnSync(
  process.execPath,
  ['--test', '--test-timeout=300000', 'test/browser/views.test.ts', 'test/browser/people.test.ts'],
  {
    stdio: 'inherit',
    env: { ...process.env, PATCHBAY_TEST_SCREENSHOTS: folder },
  },
);
const names = readdirSync(folder).flatMap((file) => /^view-(.+)-light\.png$/.exec(file)?.[1] ?? []);
const pair = (name) =>
  `<h2>${name}</h2><div>${['light', 'dark'].map((theme) => `<a href="view-${name}-${theme}.png"><img src="view-${name}-${theme}.png" alt="${name}, ${theme}"></a>`).join('')}</div>`;
writeFileSync(
  resolve(folder, 'index.html'),
  `<!doctype html><meta charset="utf-8"><title>Views of Patchbay</title>
<style>body{font:15px sans-serif;margin:2em;background:#e8eaee}div{display:grid;grid-template-columns:1fr 1fr;gap:1em}img{width:100%}</style>
<h1>Views of Patchbay</h1>${names.map(pair).join('\n')}\n`,
);
console.log(`${names.length} views: ${pathToFileURL(resolve(folder, 'index.html'))}`);
process.exit(status ?? 1);
