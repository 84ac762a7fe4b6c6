import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { DurableMap } from '../../lib/durable-map.ts';
import type { Computes } from '../computes/computes.ts';
import type { Engine } from '../engines/engine.ts';
import { EngineSlices } from './engine-slices.ts';
import { invited, isEntry } from './slice-entry.ts';
import { Slices } from './slices.ts';

const log = { debug() {}, error() {}, info() {}, warn() {} };
const computes = { find: () => undefined, all: () => [] } as Partial<Computes> as Computes;
const hash = 'ab'.repeat(32);
const needs = { cpus: 1, memory: 512, disk: 0, kvm: false, images: [] };
const good = {
  ...invited,
  name: 'one',
  invitation: { hash, expiresAt: new Date(0).toISOString() },
  order: { engine: 'process', projectId: '', needs },
};
const bad: readonly unknown[] = [
  null,
  'text',
  { ...good, invitation: { hash, expiresAt: 'soon' } },
  { ...good, epoch: -1 },
  { ...good, state: 'running' },
  { ...good, isDraining: 'no' },
  { ...good, reason: 7 },
  { ...good, findings: [{ what: 7 }] },
  { ...good, order: 7 },
  { ...good, order: { engine: 'process', projectId: '', needs: { ...needs, memory: '1' } } },
  { ...good, order: { engine: 'process', projectId: '' } },
];

test('a stored slice with a wrong value in any field is none', () => {
  assert.equal(isEntry(good), true);
  assert.equal(isEntry(JSON.parse(JSON.stringify({ ...good, findings: [{ state: 'good', what: 'KVM', found: 'yes' }] }))), true);
  for (const value of bad) assert.equal(isEntry(value), false, JSON.stringify(value));
});

test('a server starts with damaged slices, and without a place to store its id, and then orders nothing', async (t) => {
  const stateDirectory = await mkdtemp(join(tmpdir(), 'pb-entry-'));
  const path = join(stateDirectory, 'slices.log');
  const map = await DurableMap.open<unknown>(path, assert.fail);
  for (const [index, value] of [good, ...bad].entries()) await map.set(`slice ${index}`, value);
  await map.close();
  const slices = await Slices.open({
    stateDirectory,
    computes,
    log,
    leaseMs: 60_000,
    onEnding: () => false,
    onFenced: () => {},
  });
  assert.deepEqual(slices.all(), [['slice 0', good]]);
  const engines = new Map([['process', { name: 'process' } as Partial<Engine> as Engine]]);
  // Nothing can be written there, as on a full disk.
  const missing = join(stateDirectory, 'missing');
  const engineSlices = await EngineSlices.open({ stateDirectory: missing, slices, engines, log });
  t.after(async () => {
    await engineSlices.close();
    await slices.close();
    await rm(stateDirectory, { recursive: true });
  });
  await assert.rejects(engineSlices.order({}), { code: 'storage_failed' });
  assert.equal(slices.all().length, 1);
  await mkdir(missing);
  await assert.rejects(engineSlices.order({}), (error: { code?: string }) => error.code !== 'storage_failed');
});
