import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultSettings } from '../schema/settings.ts';
import { lookAtKvm, printFindings } from './doctor.ts';

test('what is missing is one command away', () => {
  const text = printFindings('Patchbay', [
    { state: 'good', what: 'node', found: '24.1.0 (/usr/bin/node)' },
    { state: 'missing', what: 'vpcs', found: 'not found: needed for VPCS nodes', package: 'vpcs' },
    { state: 'note', what: 'passt', found: 'not found: needed for NAT nodes', package: 'passt' },
  ]);
  assert.match(text, /✔ node {3}24\.1\.0/);
  assert.match(text, /✖ vpcs {3}not found/);
  assert.match(text, /apt-get install .* vpcs passt$/m);
});

test('a machine that has everything is reported as complete', () => {
  assert.match(printFindings('Patchbay', [{ state: 'good', what: 'node', found: '24' }]), /Everything is there/);
});

test('KVM is not tried for a server that is not to use it', async () => {
  const binaries = {
    inPath: () => Promise.reject(new Error('an emulator is looked for')),
  };
  const { Qemu } = defaultSettings();
  for (const [settings, words] of [
    [{ ...Qemu, acceleration: 'off' }, /TCG.*acceleration = off/],
    [{ ...Qemu, enable_hardware_acceleration: false }, /TCG.*enable_hardware_acceleration = False/],
  ] as const)
    assert.match((await lookAtKvm(binaries, settings)).found, words);
});
