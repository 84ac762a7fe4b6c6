/** Takeover of the rules of a fabric that has ended: no frame is lost meanwhile, and none passes a new rule by. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { type HostEnds, KernelPath, KernelPaths } from '../../src/fabric/kernel-paths/kernel-paths.ts';
import { InterfacePlace } from '../../src/fabric/ports/interface-place.ts';
import { loadNative } from '../../src/fabric/ports/native.ts';
import { ContainerEnd, noContainerEnds } from '../support/container-end.ts';
import { waitFor } from '../support/wait-for.ts';

const run = promisify(execFile);
const skip = await noContainerEnds();

/** Whether a host end has the rule of the kernel's path. */
async function hasRule(end: string): Promise<boolean> {
  return (await run('tc', ['filter', 'show', 'dev', end, 'ingress', 'pref', '1'])).stdout !== '';
}

/** Ends of two containers that have the rules of a fabric, and a function that makes the next one. */
async function takenBefore(context: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'kernel-paths-'));
  context.after(() => rm(folder, { recursive: true }));
  const ends: string[] = [];
  for (const address of ['10.71.0.1', '10.71.0.2']) {
    const end = await ContainerEnd.make(folder, `${address}/24`);
    context.after(() => end.remove());
    ends.push(end.names.hostEnd);
  }
  const native = await loadNative();
  const fabric = (place = new InterfacePlace('host')) => {
    // A failure is not repeated within the test.
    const paths = new KernelPaths(native, folder, { retryMs: 600_000, place });
    context.after(() => paths.close());
    return paths;
  };
  const both = ends as unknown as HostEnds;
  await new KernelPath(fabric()).take(both, () => true);
  const haveRules = async (wanted: boolean) => assert.deepEqual(await Promise.all(both.map(hasRule)), [wanted, wanted]);
  await haveRules(true);
  return { both, fabric, haveRules };
}

describe('a fabric that finds the rules of an earlier one', { skip }, () => {
  it('leaves none of a link that is given up before it is taken', async (context) => {
    const { both, fabric, haveRules } = await takenBefore(context);
    await new KernelPath(fabric()).take(both, () => false);
    await haveRules(false);
  });

  for (const works of [true, false])
    it(`keeps them until its own interfaces are open, ${works ? 'and takes the link' : 'also when its trial fails'}`, async (context) => {
      const { both, fabric, haveRules } = await takenBefore(context);
      const paths = fabric();
      if (!works) context.mock.method(paths, 'obstacle', async () => 'the trial failed');
      let looks = 0;
      let isOpen = false;
      const path = new KernelPath(paths, () => {
        looks += 1;
        return isOpen;
      });
      const taken = path.take(both, () => true);
      await waitFor(() => looks > 2, { what: 'looks at the interfaces' });
      await haveRules(true);
      isOpen = true;
      await taken;
      assert.equal(path.isTaken, works);
      await haveRules(works);
      await path.end();
    });

  it('takes a link although its place changes in the middle of the trial', async (context) => {
    const { both, fabric } = await takenBefore(context);
    const paths = fabric();
    const run = paths.tc.run.bind(paths.tc);
    let runs = 0;
    context.mock.method(paths.tc, 'run', (commands: readonly string[]) => {
      const result = run(commands);
      runs += 1;
      if (runs === 1) paths.placeChanged();
      return result;
    });
    const path = new KernelPath(paths);
    await path.take(both, () => true);
    assert.equal(path.isTaken, true);
    await path.end();
  });

  for (const stays of [true, false])
    it(`${stays ? 'takes a link that waits' : 'forgets a link that has gone'} when it knows the place`, async (context) => {
      const { both, fabric, haveRules } = await takenBefore(context);
      const place = new InterfacePlace('host');
      let isKnown = false;
      let isWanted = true;
      Object.defineProperty(place, 'isKnown', { get: () => isKnown });
      const paths = fabric(place);
      const path = new KernelPath(paths);
      await path.take(both, () => isWanted);
      assert.equal(path.isTaken, false);
      isWanted = stays;
      if (!stays) await path.leave();
      await paths.forget();
      await haveRules(true);
      isKnown = true;
      paths.placeChanged();
      if (stays) await waitFor(() => path.isTaken, { what: 'the path through the kernel' });
      else await waitFor(async () => !(await hasRule(both[0])) && !(await hasRule(both[1])), { what: 'the rules to be removed' });
      await path.end();
    });
});
