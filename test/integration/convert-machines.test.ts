/** Machines of VirtualBox and VMware become machines of QEMU, with disks that the real qemu-img has made. */
import assert from 'node:assert/strict';
import { copyFile, mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { findProgram } from '../../src/emulators/host/find-program.ts';
import { runTool } from '../../src/process/tool.ts';
import { expectFault } from '../support/raw-http.ts';
import { createNode, createProject, type NodeBody, type ProjectHandle, withServer } from '../support/with-server.ts';

const missing = (await findProgram('qemu-img')) === undefined || (await findProgram('qemu-system-x86_64')) === undefined;

describe('conversion to QEMU', { skip: missing && 'qemu-img and qemu-system-x86_64 are not installed' }, async () => {
  const { server, client } = await withServer();
  const images = join(server.dataDir, 'images', 'QEMU');
  const img = async (...args: string[]) => {
    const { code, stdout, reason } = await runTool('qemu-img', args, { timeoutMs: 60_000, cwd: images });
    assert.equal(code, 0, reason);
    return stdout;
  };
  let project: ProjectHandle;
  const send = (node: NodeBody, disks: string[]) =>
    client.send(`POST ${project.path}/nodes/${node.node_id}/convert`, { body: { disks } });
  const convert = async (node: NodeBody, disks: string[]) => {
    const answer = await send(node, disks);
    return { status: answer.status, text: answer.text() };
  };

  before(async () => {
    await mkdir(images, { recursive: true });
    await writeFile(join(images, 'source.raw'), Buffer.alloc(2 ** 20, 'the disk of a guest '));
    await img('convert', '-f', 'raw', '-O', 'vdi', 'source.raw', 'old.vdi');
    await img('convert', '-f', 'raw', '-O', 'vmdk', 'source.raw', 'old-vm.vmdk');
    project = await createProject(client);
  });

  test('a machine of VirtualBox keeps its cards, their addresses and its memory; its disk has the same content', async () => {
    const properties = { vmname: 'old', adapters: 2, ram: 512, adapter_type: 'Paravirtualized Network (virtio-net)' };
    const custom_adapters = [{ adapter_number: 1, mac_address: '00:0c:29:11:22:33' }];
    const old = await createNode(client, project, 'virtualbox', { name: 'Web', properties, custom_adapters });
    const { status, text } = await convert(old, ['old.vdi']);
    assert.equal(status, 201, text);
    const made = JSON.parse(text) as NodeBody;
    assert.equal(made.node_type, 'qemu');
    const { hda_disk_image, adapters, adapter_type, ram } = made.properties;
    assert.deepEqual([hda_disk_image, adapters, adapter_type, ram], ['old.qcow2', 2, 'virtio-net-pci', 512]);
    const [card] = made.custom_adapters as { adapter_number: number; mac_address?: string }[];
    assert.deepEqual([card?.adapter_number, card?.mac_address], [1, '00:0c:29:11:22:33']);
    await img('compare', '-f', 'raw', '-F', 'qcow2', 'source.raw', 'old.qcow2');
    assert.equal((await client.get<NodeBody>(`${project.path}/nodes/${old.node_id}`)).node_type, 'virtualbox');
    assert.deepEqual(await client.get('/v2/compute/qemu/convert'), []);
  });

  test('a machine of VMware, with its VMDK', async () => {
    const old = await createNode(client, project, 'vmware', {
      properties: { vmx_path: '/gone/a.vmx', linked_clone: false, adapters: 3, adapter_type: 'vmxnet3' },
    });
    const { status, text } = await convert(old, ['old-vm.vmdk']);
    assert.equal(status, 201, text);
    const { hda_disk_image, adapters, adapter_type } = (JSON.parse(text) as NodeBody).properties;
    assert.deepEqual([hda_disk_image, adapters, adapter_type], ['old-vm.qcow2', 3, 'vmxnet3']);
    await img('compare', '-f', 'raw', '-F', 'qcow2', 'source.raw', 'old-vm.qcow2');
  });

  test('of two requests at once for one image, one converts it', async () => {
    await img('convert', '-f', 'raw', '-O', 'vdi', 'source.raw', 'twice.vdi');
    const ask = async () => (await client.send('POST /v2/compute/qemu/convert', { body: { source: 'twice.vdi' } })).status;
    assert.deepEqual((await Promise.all([ask(), ask()])).sort(), [201, 409]);
    await img('compare', '-f', 'raw', '-F', 'qcow2', 'source.raw', 'twice.qcow2');
  });

  test('what refers to other files, has no need, is missing or is in the way is refused, and leaves nothing', async () => {
    const old = await createNode(client, project, 'virtualbox', { properties: { vmname: 'other', adapters: 1 } });
    // Its data is in a file beside it.
    await img('create', '-f', 'vmdk', '-o', 'subformat=monolithicFlat', 'flat.vmdk', '1M');
    await img('convert', '-f', 'raw', '-O', 'vmdk', 'source.raw', 'base.vmdk');
    await img('create', '-f', 'vmdk', '-b', 'base.vmdk', '-F', 'vmdk', 'child.vmdk');
    await rename(join(images, 'base.vmdk'), join(images, 'moved.vmdk'));
    await writeFile(join(images, 'torn.vdi'), Buffer.concat([Buffer.alloc(64), Buffer.from('7f10dabe', 'hex'), Buffer.alloc(600)]));
    const long = `${'n'.repeat(245)}.vdi`;
    await copyFile(join(images, 'old.vdi'), join(images, long));
    const before = (await readdir(images)).sort();
    const nodes = (await client.get<NodeBody[]>(`${project.path}/nodes`)).length;
    const bad: [disk: string, says: RegExp][] = [
      ['flat.vmdk', /descriptor, which names its data in other files/],
      ['child.vmdk', /difference to another file/],
      ['source.raw', /it is raw, which needs no conversion/],
      ['old.vdi', /old\.qcow2.* exists already/],
      ['torn.vdi', /cannot be (made|read)/],
      ['gone.vdi', /gone\.vdi/],
      ['../../etc/passwd', /passwd/],
    ];
    expectFault(await client.send('POST /v2/compute/qemu/convert', { body: { source: long } }), 507);
    for (const [disk, says] of bad) {
      const { status, text } = await convert(old, [disk]);
      assert.ok(status >= 400 && status < 500, `${disk}: ${status} ${text}`);
      assert.match(text, says);
    }
    assert.deepEqual((await readdir(images)).sort(), before);
    assert.equal((await client.get<NodeBody[]>(`${project.path}/nodes`)).length, nodes);
    const pc = await createNode(client, project, 'vpcs');
    expectFault(await send(pc, ['old.vdi']), 409);
    expectFault(await send(old, []), 400);
  });
});
