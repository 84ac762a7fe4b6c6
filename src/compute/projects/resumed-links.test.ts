import assert from 'node:assert/strict';
import { access, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { resumedLinksName } from '../../schema/folders.ts';
import type { Context } from '../context.ts';
import type { FabricHolds } from '../links/held-links.ts';
import type { ComputeProjects } from './projects.ts';
import { ResumedLinks } from './resumed-links.ts';

async function resuming(context: TestContext) {
  const path = await mkdtemp(join(tmpdir(), 'resumed-links-'));
  context.after(() => rm(path, { recursive: true }));
  const asked: string[] = [];
  const released = Promise.withResolvers<void>();
  const fabric = {
    hold: async () => void asked.push('hold'),
    release: async () => {
      asked.push('release');
      released.resolve();
    },
  } as unknown as FabricHolds;
  const warnings: string[] = [];
  const wiring = { linkIdsOf: () => ['link'], connected: async (nodes: string[]) => void asked.push(`connected ${nodes}`) };
  const parts = { wiring, log: (_level: string, message: string) => warnings.push(message) };
  const node = { id: 'VM', driver: { kind: {} }, runRestored: async () => void asked.push(`run, held: ${project.holdsMachines}`) };
  const project = { path, nodes: new Map([['VM', node]]), holdsMachines: false };
  const projects = { get: () => project } as unknown as ComputeProjects;
  return {
    path,
    asked,
    warnings,
    project,
    released: released.promise,
    links: new ResumedLinks(parts as unknown as Context, projects, fabric),
  };
}

describe('links of a project that continues', () => {
  it('are held once when two requests come together, and not again after they were released', async (context) => {
    context.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
    const { links, asked } = await resuming(context);
    await Promise.all([links.hold('P'), links.hold('p')]);
    assert.deepEqual(asked, ['hold', 'hold']);
    context.mock.timers.tick(1000);
    assert.deepEqual(asked.splice(0), ['hold', 'hold', 'hold'], 'one of the two is prolonged');
    await links.release('P');
    context.mock.timers.tick(10_000);
    assert.deepEqual(asked, ['connected VM', 'run, held: false', 'release']);
  });

  it('fail with the reason of a machine that cannot run, while those behind it take long', async (context) => {
    const { links, project } = await resuming(context);
    const runRestored = async () => assert.fail('it has ended');
    project.nodes.set('failing', { id: 'failing', driver: { kind: {} }, runRestored });
    for (const id of ['slow', 'slower']) {
      const busy = async () => {
        for (const until = performance.now() + 20; performance.now() < until; );
      };
      project.nodes.set(id, { id, driver: { kind: {} }, runRestored: busy as never });
    }
    await links.hold('P');
    await assert.rejects(links.release('P'), /it has ended/);
  });

  it('keep machines paused until they are connected, also when a client never releases them', async (context) => {
    context.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
    const { links, asked, project, released } = await resuming(context);
    await links.hold('P');
    assert.equal(project.holdsMachines, true);
    context.mock.timers.tick(120_000);
    await released;
    assert.deepEqual(asked.slice(-3), ['connected VM', 'run, held: false', 'release']);
  });

  it('lose their frames where they could not be held', async (context) => {
    const { path, links, asked } = await resuming(context);
    const folder = join(path, resumedLinksName);
    await mkdir(folder);
    await links.release('P');
    assert.deepEqual(asked, ['connected VM', 'run, held: false']);
    await assert.rejects(access(folder), { code: 'ENOENT' });
  });

  it('are released when their frames are damaged, which are gone then', async (context) => {
    // The hold would be prolonged meanwhile on a busy host.
    context.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
    const { path, links, asked, warnings } = await resuming(context);
    const folder = join(path, resumedLinksName);
    await mkdir(folder);
    await writeFile(join(folder, 'index.json'), '{}');
    await links.hold('P');
    await links.release('P');
    assert.deepEqual(asked, ['hold', 'connected VM', 'run, held: false', 'release']);
    assert.match(warnings.join(), /frames in flight are not restored: .*index\.json is damaged/);
    await assert.rejects(access(folder));
  });
});
