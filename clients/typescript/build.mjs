/**
 * Generates `src/generated.ts` from the OpenAPI document of a server, and compiles the package into `dist`.
 * Usage: node build.mjs [FILE-OR-URL]; without one, the document of this checkout (`patchbay openapi`).
 */
import { execFileSync } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { generate } from './generate.mjs';

const here = import.meta.dirname;
const [source] = process.argv.slice(2);

async function readDocument() {
  if (source === undefined) {
    const program = path.resolve(here, '../../scripts/patchbay.mjs');
    return execFileSync(process.execPath, [program, 'openapi'], { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  }
  if (!/^https?:/.test(source)) return readFile(source, 'utf8');
  const answer = await fetch(source);
  if (!answer.ok) throw new Error(`${source} answered with status ${answer.status}`);
  return answer.text();
}

await writeFile(path.join(here, 'src/generated.ts'), generate(JSON.parse(await readDocument())));
await rm(path.join(here, 'dist'), { recursive: true, force: true });
const compiler = path.join(path.dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
execFileSync(process.execPath, [compiler, '-p', here], { stdio: 'inherit' });
