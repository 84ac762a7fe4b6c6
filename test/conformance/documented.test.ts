/**
 * The examples of GNS3's API reference, one after the other on one server: request, status, and the fields that the answer must have. Rewritten
 * from the reference as facts. Where the reference is known to name another status than GNS3 answers, GNS3's own counts. Dynamips and IOU images
 * are the tests' stand-ins; without them (no C compiler) nodes of these kinds are not started. Those of Docker are in `docker.test.ts`, which has
 * an engine.
 */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { buildStandIn, compilerObstacle, iosHead } from '../support/dynamips/programs.ts';
import { readStandIn, skipIou, validLicense } from '../support/iou/build.ts';
import { withServer } from '../support/with-server.ts';
import { controllerExamples } from './documented-examples.ts';
import { type KindExample, kindExamples, lifeOfNode } from './documented-kinds.ts';
import { ExampleRunner } from './run-examples.ts';

const noDynamips = (await compilerObstacle()) ?? false;
const program = noDynamips ? '/nonexistent/dynamips' : await buildStandIn();
const { server, client } = await withServer({ config: { Dynamips: { dynamips_path: program } } });
const runner = new ExampleRunner(client);
const { saved } = runner;
// Port for the tunnel of the cloud: ports are given out from the lowest on.
const { udp_port_range } = await client.get<{ udp_port_range: number[] }>('/v2/compute/network/ports');
saved.set('tunnel', String(udp_port_range[1]));
if (!skipIou) saved.set('license', JSON.stringify(validLicense()).slice(1, -1));
/** Why nodes of a kind cannot be started here. */
const obstacles: Readonly<Record<string, string | false>> = { dynamips: noDynamips, iou: skipIou };

before(async () => {
  const images = join(server.dataDir, 'images');
  const standIns = { 'IOS/c7200.bin': iosHead, ...(!skipIou && { 'IOU/iou.bin': await readStandIn() }) };
  for (const [name, content] of Object.entries(standIns)) {
    await mkdir(join(images, name, '..'), { recursive: true });
    await writeFile(join(images, name), content, { mode: 0o755 });
  }
});

test('there are more than the 185 of the reference, and none is lost', () => {
  assert.equal(controllerExamples.length + kindExamples.reduce((sum, kind) => sum + lifeOfNode(kind).length, 0), 354);
});

test('the controller’s examples', async () => {
  for (const example of controllerExamples) await runner.run(example);
});

/** Example of the kind without the parts that need a running emulator. */
function unstarted({ start: _start, verbs: _verbs, ...kind }: KindExample): KindExample {
  return kind;
}

describe('the examples of each kind on a compute', () => {
  for (const kind of kindExamples.filter(({ type }) => type !== 'docker')) {
    const obstacle = obstacles[kind.type];
    test(kind.type, async (t) => {
      if (obstacle) t.diagnostic(`not started: ${obstacle}`);
      for (const example of lifeOfNode(obstacle ? unstarted(kind) : kind)) await runner.run(example);
    });
  }
});
