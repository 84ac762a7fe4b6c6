#!/usr/bin/env node
/**
 * The `patchbay` command of an installed package: runs the program on the Node 24 that npm installed with it. Plain JavaScript, for
 * it is started by the machine's own Node (20 or newer).
 */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { handOver, installedNode } from './setup-npm.mjs';

const root = path.resolve(path.dirname(realpathSync(fileURLToPath(import.meta.url))), '..');
const env = { ...process.env };
if (root.split(path.sep).includes('node_modules')) {
  const hook = pathToFileURL(path.join(root, 'scripts/strip-types.mjs')).href;
  env.NODE_OPTIONS = [env.NODE_OPTIONS, `--import=${hook}`, '--disable-warning=ExperimentalWarning'].filter(Boolean).join(' ');
}
handOver(installedNode(root), [findProgram(), ...process.argv.slice(2)], env);

/** A package has the bundle of its sources. Those of a checkout may have changed since theirs was made. */
function findProgram() {
  const folder = path.join(root, '.cache/program');
  const current = path.join(folder, 'current');
  if (existsSync(path.join(root, 'test')) || !existsSync(current)) return path.join(root, 'src/main.ts');
  return path.join(folder, readFileSync(current, 'utf8'), 'main.js');
}
