/**
 * Gives the modules of `src/` other modules in place of Node's: those of `stand-ins/`. The program itself is not changed. With
 * `--fault` one deliberate fault (`faults.ts`) is put into its source.
 */
import { readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';
import { replaceGlobals } from './engine/globals.ts';
import { findFault } from './faults.ts';

const src = new URL('../../src/', import.meta.url).href;
const standIn = (name: string) => new URL(`./stand-ins/${name}.ts`, import.meta.url).href;
const standIns: Readonly<Record<string, string>> = {
  'node:fs/promises': standIn('fs-promises'),
  'node:fs': standIn('fs'),
  'node:timers/promises': standIn('timers-promises'),
  'node:crypto': standIn('crypto'),
  'node:os': standIn('os'),
  undici: standIn('undici'),
  './decide.ts': standIn('decide'),
};
const given = process.argv.indexOf('--fault');
const chosen = given < 0 ? undefined : process.argv[given + 1];
const fault = chosen === undefined || chosen === 'list' ? undefined : findFault(chosen);

registerHooks({
  resolve(specifier, context, next) {
    const isOwn = context.parentURL?.startsWith(src) === true;
    const url = isOwn && Object.hasOwn(standIns, specifier) ? standIns[specifier] : undefined;
    return url ? { url, format: 'module-typescript', shortCircuit: true } : next(specifier, context);
  },
  load(url, context, next) {
    if (!fault || url !== `${src}${fault.file}`) return next(url, context);
    const text = readFileSync(fileURLToPath(url), 'utf8');
    if (!text.includes(fault.from)) throw new Error(`The fault ${fault.name} has no place in ${fault.file} any more`);
    return { format: 'module', source: stripTypeScriptTypes(text.replace(fault.from, fault.to)), shortCircuit: true };
  },
});
replaceGlobals();
