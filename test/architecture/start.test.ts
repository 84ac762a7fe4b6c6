/** Modules that every start of the server loads: a start takes as long as its modules do. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { importsOf, sourceFiles } from './sources.ts';

/** Packages of hundreds of modules, or of code that most servers never run: they are loaded with the first request that needs them. */
const heavy = [
  ...['typebox', 'typebox/compile', 'typebox/schema', 'yaml', 'vite', 'json-p3', 'undici'],
  // `lib/node-http.ts` says why.
  'node:http',
];

it('a server that starts loads neither the validator, nor YAML, nor an HTTP client', async () => {
  const loaders = new Map<string, string>([['src/serve.ts', 'src/main.ts']]);
  // A map's iterator also visits what is added on the way.
  for (const [file] of loaders) {
    if (!file.endsWith('.ts')) continue;
    for (const { to, isType, isLate } of await importsOf(file)) {
      if (!isType && !isLate && !loaders.has(to)) loaders.set(to, file);
    }
  }
  assert.ok(loaders.has('fastify'), 'the walk reaches the packages');
  assert.deepEqual(
    heavy.flatMap((name) => (loaders.has(name) ? [`${loaders.get(name)} imports ${name}`] : [])),
    [],
  );
});

it('nothing loads typebox/compile: three times the modules of typebox/schema, for values that are not JSON', async () => {
  for (const file of await sourceFiles()) {
    const values = (await importsOf(file)).filter(({ isType }) => !isType).map(({ to }) => to);
    assert.ok(!values.some((to) => to === 'typebox' || to === 'typebox/compile'), file);
  }
});
