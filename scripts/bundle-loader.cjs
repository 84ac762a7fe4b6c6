/**
 * Entry of a bundle (`bundle-program.mjs`): runs its scripts with the code that V8 compiled in an earlier run, functions of first requests
 * included. Node's own cache of compiled code has only what runs while a module is loaded. A script without such code, as for another
 * version of Node, gets it at the end of the process.
 */
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const { setFlagsFromString } = require('node:v8');
const vm = require('node:vm');

/** V8 refuses code of another version, or compiled under other flags. */
const codeName = `${process.version}-${process.arch}.code`;
/** The flags that the program changes while it runs (`src/main.ts`, `src/lib/end-compilation.ts`), as they are at its start. */
const initialFlags = ['--semi-space-growth-factor=2', '--no-optimize-for-size', '--maglev', '--turbofan'];
const modules = new Map();
const uncached = new Map();

/** Returns the exports of a script, which is a function of what a CommonJS module gets, in ASCII. */
function load(file) {
  const known = modules.get(file);
  if (known) return known.exports;
  const module = { exports: {} };
  modules.set(file, module);
  const folder = path.dirname(file);
  const find = (id) => (id.startsWith('.') ? load(path.join(folder, id)) : require(id));
  compile(file)(module.exports, find, module, file, folder);
  return module.exports;
}

function compile(file) {
  const code = `${file}.${codeName}`;
  const cachedData = readIfPresent(code);
  const script = new vm.Script(fs.readFileSync(file, 'latin1'), {
    filename: file,
    importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    ...(cachedData && { cachedData }),
  });
  if (!cachedData) uncached.set(code, script);
  return script.runInThisContext();
}

function readIfPresent(file) {
  try {
    return fs.readFileSync(file);
  } catch {
    return undefined;
  }
}

process.once('exit', () => {
  if (uncached.size === 0) return;
  for (const flag of initialFlags) setFlagsFromString(flag);
  for (const [file, script] of uncached) {
    const made = `${file}.${process.pid}`;
    try {
      fs.writeFileSync(made, script.createCachedData());
      // The fabric's umask would keep it from other users of the bundle.
      fs.chmodSync(made, 0o644);
      fs.renameSync(made, file);
    } catch {
      // The bundle belongs to another user, as that of a package, or the disk is full.
      fs.rmSync(made, { force: true });
      return;
    }
  }
});

load(path.join(__dirname, 'program.js'));
