/** QEMU 8, 9 and 10 are not installed here: the lines that they print as their version are read, and the table is asked. No machine is started. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FeatureName, features, hasFeature } from './features.ts';
import { parseVersion, versionWord } from './version.ts';

const names = Object.keys(features) as FeatureName[];

/** First lines of `-version`, in the form of Debian, Ubuntu and upstream. */
const printed: readonly (readonly [text: string, version: readonly number[], lacks: readonly FeatureName[]])[] = [
  [
    'QEMU emulator version 2.11.1(Debian 1:2.11+dfsg-1ubuntu7.42)',
    [2, 11, 1],
    ['linkSpeed', 'displayNone', 'ideDisk', 'streamNetdev', 'memoryFiles'],
  ],
  ['QEMU emulator version 6.2.0 (Debian 1:6.2+dfsg-2ubuntu6.26)', [6, 2, 0], ['streamNetdev', 'memoryFiles']],
  ['QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18)', [7, 2, 22], []],
  ['QEMU emulator version 8.2.2 (Debian 1:8.2.2+ds-0ubuntu1.10)', [8, 2, 2], []],
  ['QEMU emulator version 9.2.1 (Debian 1:9.2.1+ds-1ubuntu5)', [9, 2, 1], []],
  ['QEMU emulator version 10.0.2 (Debian 1:10.0.2+ds-2+deb13u1)', [10, 0, 2], []],
  ['QEMU emulator version 10.0.93 (v10.1.0-rc3)', [10, 0, 93], []],
];

test('each version has what the table says, 10 more than 9', () => {
  for (const [text, version, lacks] of printed) {
    const parsed = parseVersion(versionWord(text) ?? '');
    assert.deepEqual(parsed, version, text);
    assert.deepEqual(
      names.filter((name) => !hasFeature(parsed, name)),
      lacks,
      text,
    );
  }
});

test('the table names a version and a source for each', () => {
  for (const name of names) {
    const { since, what, source } = features[name];
    assert.ok(hasFeature(since, name) && what.length > 0 && source.length > 0, name);
    assert.equal(hasFeature([since[0], since[1] - 1], name), false, name);
  }
});
