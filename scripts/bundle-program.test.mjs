import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { it } from 'node:test';
import vm from 'node:vm';
import { bundleProgram } from './bundle-program.mjs';

it('a bundle has code of V8 for what its server, its fabric and its commands run first, and V8 takes it', async () => {
  const folder = path.dirname(await bundleProgram());
  const names = await readdir(folder, { recursive: true });
  const end = `.${process.version}-${process.arch}.code`;
  const withCode = names.filter((name) => names.includes(name + end));
  for (const part of [/^program\.js$/, /^serve-/, /^run-cli-/, /^fabric\/program\.js$/])
    assert.ok(
      withCode.some((name) => part.test(name)),
      `${part} among ${withCode}`,
    );
  for (const name of withCode) {
    const cachedData = await readFile(path.join(folder, name + end));
    const script = new vm.Script(await readFile(path.join(folder, name), 'latin1'), { cachedData });
    assert.equal(script.cachedDataRejected, false, name);
  }
});
