/**
 * Attacks on the host through machines, on a real server that is not local: hostile options and images from a seed. Nothing of the bait is
 * read, written or run, no door opens, and every answer is a refusal with a reason or a machine that keeps to its own files. The seed is
 * printed; `PATCHBAY_TEST_SEED` sets one, `PATCHBAY_TEST_ATTACKS` the number.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makeChance } from '../durability/random.ts';
import { withServer } from '../support/with-server.ts';
import { BaitFolder } from './attack/bait.ts';
import { attackImage } from './attack/images.ts';
import { machineProblems } from './attack/machine.ts';
import { attackOptions } from './attack/qemu-options.ts';

const attacks = Number(process.env.PATCHBAY_TEST_ATTACKS) || 150;
const { server, client } = await withServer({ config: { Server: { local: false } } });
const bait = await BaitFolder.make();
after(() => bait.remove());
const chance = makeChance();
console.log(`seed ${chance.seed}`);
const { project_id } = await client.post<{ project_id: string }>('/v2/compute/projects', { name: 'attacks' });
const project = `/v2/compute/projects/${project_id}`;
const nodes = `${project}/qemu/nodes`;
const tiny = { ram: 16, adapters: 1, boot_priority: 'n', qemu_path: 'qemu-system-x86_64', console_type: 'telnet' };
const folders = [server.dataDir, server.runtimeDirectory];

interface Outcome {
  started: number;
  refused: number;
}

/** Makes a machine at the compute, which keeps whatever a project brings, starts it and looks at it. */
async function attack(properties: object, what: string, outcome: Outcome): Promise<void> {
  const made = await client.send(`POST ${nodes}`, { body: { name: 'attack', ...tiny, ...properties } });
  assert.ok(made.status < 500, `${what}: ${made.status} ${made.text()}`);
  if (made.status !== 201) {
    outcome.refused += 1;
    assert.deepEqual(await bait.problems(), [], what);
    return;
  }
  const { node_id } = made.json<{ node_id: string }>();
  const start = await client.send(`POST ${nodes}/${node_id}/start`);
  assert.ok(start.status < 500, `${what}: ${start.status} ${start.text()}`);
  if (start.status < 300) outcome.started += 1;
  else outcome.refused += 1;
  const problems = await machineProblems(node_id, folders);
  await client.delete(`${nodes}/${node_id}`);
  assert.deepEqual([...problems, ...(await bait.problems())], [], `${what}: ${start.status} ${start.text()}`);
}

test('options', async () => {
  const outcome = { started: 0, refused: 0 };
  for (let count = 0; count < attacks; count++) {
    const options = attackOptions(chance, bait);
    await attack({ options }, options, outcome);
  }
  // An attack that never gets through shows little unless harmless machines do.
  assert.ok(outcome.started > 0 && outcome.refused > attacks / 2, JSON.stringify(outcome));
});

test('images, in the image folder and in the folder of the node, by every property', async () => {
  const outcome = { started: 0, refused: 0 };
  const properties = ['hda_disk_image', 'hdb_disk_image', 'hda_disk_image', 'cdrom_image', 'kernel_image', 'bios_image', 'initrd'];
  for (let count = 0; count < attacks; count++) {
    const name = `attack-${count}.img`;
    const image = attackImage(chance, bait);
    const seed = `image ${count} of seed ${chance.seed}: ${image.subarray(0, 120).toString('latin1')}`;
    const upload = await client.send(`POST /v2/compute/qemu/images/${name}`, { raw: image });
    assert.ok([204, 409].includes(upload.status), `${seed}: ${upload.status} ${upload.text()}`);
    // What was refused is tried by way of the project's files, too.
    if (upload.status !== 204) {
      const again = await client.send(`POST ${project}/files/${name}`, { raw: image });
      assert.ok(again.status < 500, `${seed}: ${again.status}`);
    }
    const property = chance.pick(properties) ?? 'hda_disk_image';
    const disk = { [property]: name, hda_disk_interface: 'ide', linked_clone: chance.next() < 0.5 };
    await attack({ ...disk, options: '-nodefaults -machine accel=tcg,graphics=off' }, `${property} ${seed}`, outcome);
    const sized = await client.send('PUT /v2/compute/qemu/img', { body: { qemu_img: 'qemu-img', path: name, extend: 1 } });
    assert.ok(sized.status < 500, `${seed}: ${sized.status} ${sized.text()}`);
    assert.deepEqual(await bait.problems(), [], `resized ${seed}`);
  }
  assert.ok(outcome.refused > 0 && outcome.started > 0, JSON.stringify(outcome));
});

test('a disk of a linked clone that is replaced by way of the files', async () => {
  const made = await client.post<{ node_id: string }>(nodes, {
    name: 'clone',
    ...tiny,
    hda_disk_image: 'empty8G.qcow2',
    hda_disk_interface: 'ide',
    options: '-nodefaults -machine accel=tcg,graphics=off',
  });
  const overlay = `project-files/qemu/${made.node_id}/hda_disk.qcow2`;
  for (let count = 0; count < attacks / 3; count++) {
    const image = attackImage(chance, bait);
    const written = await client.send(`POST ${project}/files/${overlay}`, { raw: image });
    assert.ok(written.status < 500, `${written.status} ${written.text()}`);
    const start = await client.send(`POST ${nodes}/${made.node_id}/start`);
    assert.ok(start.status < 500, start.text());
    const problems = await machineProblems(made.node_id, folders);
    await client.post(`${nodes}/${made.node_id}/stop`, {}, 204);
    assert.deepEqual([...problems, ...(await bait.problems())], [], `image ${count} of seed ${chance.seed}`);
  }
  await client.delete(`${nodes}/${made.node_id}`);
});
