import assert from 'node:assert/strict';
import { test } from 'node:test';
import { printFindings } from './doctor.ts';

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
