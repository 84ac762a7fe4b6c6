import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isFault } from '../../api/faults.ts';
import { chosenAccelerator, fillPlaceholders, hasOption, splitOptions } from './options.ts';
import { merge } from './properties.ts';

test('options are split as a shell does', () => {
  const cases: [string, string[]][] = [
    ['', []],
    ['  -a  b ', ['-a', 'b']],
    [`-append "one 'two'" 'three "four"'`, ['-append', "one 'two'", 'three "four"']],
    ['a\\ b "c\\"d" \'e\\f\' ""', ['a b', 'c"d', 'e\\f', '']],
    ['x"y z"w', ['xy zw']],
  ];
  for (const [text, words] of cases) assert.deepEqual(splitOptions(text), words, text);
});

test('bad quoting is refused with the reason', () => {
  for (const text of ['"a', "'a", 'a\\']) {
    assert.throws(
      () => splitOptions(text),
      (error) => isFault(error, 'qemu_failed') && error.message.includes(text),
    );
  }
});

test('placeholders are filled in after splitting', () => {
  const values = { name: 'my "vm", 1', nodeId: 'aabbccdd-0000', projectId: 'p', projectDirectory: '/a b', consolePort: null };
  const words = splitOptions('-x %vm-name% -y id=%vm-id%,%project-id% %project-path%/f %console-port% %other% %guest-cid%');
  assert.deepEqual(fillPlaceholders(words, values).slice(0, 7), [
    '-x',
    'my "vm",, 1',
    '-y',
    'id=aabbccdd-0000,p',
    '/a b/f',
    '%console-port%',
    '%other%',
  ]);
  assert.deepEqual(fillPlaceholders(['%guest-cid%', '%console-port%'], { ...values, consolePort: 5001 }), ['5001', '5001']);
  const cid = Number(fillPlaceholders(['%guest-cid%'], values)[0]);
  assert.ok(cid >= 3 && cid <= 65_534);
});

test('the accelerator that options choose', () => {
  const cases: [string, string | undefined][] = [
    ['-machine accel=tcg', 'tcg'],
    ['-M pc,accel=kvm:tcg', 'kvm:tcg'],
    ['--accel tcg,thread=multi', 'tcg'],
    ['-machine q35', undefined],
    ['', undefined],
  ];
  for (const [text, expected] of cases) assert.equal(chosenAccelerator(splitOptions(text)), expected, text);
  assert.ok(hasOption(['--nographic'], 'display', 'nographic'));
});

test('options of old versions are kept in the form of today', () => {
  const kept = (options: string) => merge({ options: '', mac_address: '00:00:00:00:00:00' }, { options }, 'aabbccdd').options;
  assert.equal(kept(' -no-kvm -x '), '-machine accel=tcg -x');
  assert.equal(kept('-enable-kvm'), process.platform === 'linux' ? '-machine accel=kvm' : '');
  assert.equal(kept('-enable-hax -y'), '-y');
  assert.equal(kept('-foo=-no-kvm'), '-foo=-no-kvm');
});
