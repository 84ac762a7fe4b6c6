/**
 * Lets Node run Patchbay's TypeScript from a `node_modules` folder, where Node itself refuses to: `scripts/patchbay.mjs` loads it
 * into every process of an installed Patchbay.
 */
import { readFileSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { fileURLToPath } from 'node:url';

/** Files of other packages are loaded as ever. */
const own = new URL('../', import.meta.url).href;

// Other programs inherit the option that loads this file; an older Node has no hooks, and nothing to load here.
nodeModule.registerHooks?.({
  load(url, context, next) {
    const { pathname, href } = new URL(url);
    if (
      !href.startsWith(own) ||
      !pathname.endsWith('.ts') ||
      pathname.slice(new URL(own).pathname.length).includes('node_modules/')
    ) {
      return next(url, context);
    }
    const source = nodeModule.stripTypeScriptTypes(readFileSync(fileURLToPath(url), 'utf8'));
    return { format: 'module', source, shortCircuit: true };
  },
});
