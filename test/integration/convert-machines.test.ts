/** Machines of VirtualBox and VMware become machines of QEMU, with disks that the real qemu-img has made. */
import assert from 'node:assert/strict';
import { chmod, copyFile, mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { findProgram } from '../../src/emulators/host/find-program.ts';
import { runTool } from '../../src/process/tool.ts';
import { processesOf } from '../support/leftovers.ts';
import { expectFault, RawClient } from '../support/raw-http.ts';
import { startServer } from '../support/server.ts';
import { waitFor } from '../support/wait-for.ts';
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

  test('a template becomes one of QEMU with all that both have; a failure leaves no image and no template', async () => {
    await img('convert', '-f', 'raw', '-O', 'vdi', 'source.raw', 'my template.vdi');
    const facts = {
      ...{ category: 'router', symbol: ':/symbols/router.svg', default_name_format: 'edge{0}', usage: 'log in as root' },
      ...{ adapters: 3, ram: 256, port_name_format: 'ge{0}', first_port_name: 'mgmt', port_segment_size: 0 },
      custom_adapters: [{ adapter_number: 2, mac_address: '00:0c:29:11:22:44' }],
    };
    const body = { ...facts, name: 'Edge', template_type: 'virtualbox', compute_id: 'local', vmname: 'edge' };
    const old = await client.post<Record<string, unknown>>('/v2/templates', body);
    const path = `/v2/templates/${old.template_id}/convert`;
    const count = (await client.get<unknown[]>('/v2/templates')).length;
    expectFault(await client.send(`POST ${path}`, { body: { disks: ['my template.vdi', 'none.vdi'] } }), [404, 409], /none\.vdi/);
    assert.ok(!(await readdir(images)).includes('my template.qcow2'));
    assert.equal((await client.get<unknown[]>('/v2/templates')).length, count);
    const made = await client.post<Record<string, unknown>>(path, { disks: ['my template.vdi'] });
    const of = (template: Record<string, unknown>) => Object.fromEntries(Object.keys(facts).map((key) => [key, template[key]]));
    assert.deepEqual(of(made), of(old));
    assert.deepEqual([made.name, made.template_type, made.hda_disk_image], ['Edge (QEMU)', 'qemu', 'my template.qcow2']);
    await img('compare', '-f', 'raw', '-F', 'qcow2', 'source.raw', 'my template.qcow2');
    const { ports } = await client.post<NodeBody>(`${project.path}/templates/${made.template_id}`, { x: 0, y: 0 });
    assert.deepEqual(
      (ports as { name: string }[]).map(({ name }) => name),
      ['mgmt', 'ge0', 'ge1'],
    );
    expectFault(
      await client.send(`POST /v2/templates/${made.template_id}/convert`, { body: { disks: ['x.vdi'] } }),
      409,
      /run here/,
    );
    assert.equal((await client.get<Record<string, unknown>>(`/v2/templates/${old.template_id}`)).template_type, 'virtualbox');
  });

  test('of two requests at once for one image, one converts it', async () => {
    await img('convert', '-f', 'raw', '-O', 'vdi', 'source.raw', 'twice.vdi');
    const ask = async () => (await client.send('POST /v2/compute/qemu/convert', { body: { source: 'twice.vdi' } })).status;
    assert.deepEqual((await Promise.all([ask(), ask()])).sort(), [201, 409]);
    await img('compare', '-f', 'raw', '-F', 'qcow2', 'source.raw', 'twice.qcow2');
  });

  test('two are converted at once; of those that a killed server was converting nothing is left', async (t) => {
    // A qemu-img that never ends a conversion, after the start of an image.
    const folder = await mkdtemp(join(tmpdir(), 'pb-img-'));
    t.after(() => rm(folder, { recursive: true }));
    await chmod(folder, 0o755);
    const script = `#!/bin/sh\nif [ "$1" = convert ]; then for made; do :; done; echo half > "$made"; exec sleep 1000; fi\nexec ${await findProgram('qemu-img')} "$@"\n`;
    await writeFile(join(folder, 'qemu-img'), script, { mode: 0o755 });
    const slow = await startServer({ env: { PATH: `${folder}:${process.env.PATH}` } });
    t.after(() => slow.stop());
    const other = new RawClient(slow.url);
    t.after(() => other.close());
    const place = join(slow.dataDir, 'images', 'QEMU');
    await mkdir(place, { recursive: true });
    const names = ['a', 'b', 'c'];
    for (const name of names) await copyFile(join(images, 'twice.vdi'), join(place, `${name}.vdi`));
    const asked = names.map((name) =>
      other.send('POST /v2/compute/qemu/convert', { body: { source: `${name}.vdi` } }).catch(() => undefined),
    );
    const begun = async () => {
      const found = names.map((name) => stat(join(place, `${name}.qcow2.unfinished`, `${name}.qcow2`)).catch(() => undefined));
      return (await Promise.all(found)).filter((facts) => (facts?.size ?? 0) > 0).length;
    };
    const listed = async () => (await other.get<unknown[]>('/v2/compute/qemu/convert')).length;
    await waitFor(async () => (await begun()) === 2 && (await listed()) === 3, { what: 'two conversions, and one that waits' });
    const sleepers = () =>
      processesOf(slow.dataDir, slow.runtimeDirectory).filter(({ commandLine }) => commandLine === 'sleep 1000');
    const firstOfTwo = () => {
      const [first, second] = sleepers();
      return second && first;
    };
    process.kill((await waitFor(firstOfTwo, { what: 'two that do not end' })).pid, 'SIGKILL');
    await waitFor(async () => (await listed()) === 2 && (await begun()) === 2 && sleepers().length === 2, {
      what: 'the third one',
    });
    await slow.kill9();
    await Promise.all(asked);
    await slow.restart();
    await waitFor(() => sleepers().length === 0, { what: 'the end of qemu-img' });
    await waitFor(async () => (await readdir(place)).every((name) => name.endsWith('.vdi')), {
      what: 'an image folder without halves',
    });
  });

  test('what refers to other files, has no need, is missing or is in the way is refused, and leaves nothing', async () => {
    const old = await createNode(client, project, 'virtualbox', { properties: { vmname: 'other', adapters: 1 } });
    // A disk image whose data is in a file beside it.
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
      ['flat.vmdk', /descriptor, which names its data in other files: convert it \(qemu-img convert -O qcow2\)/],
      ['child.vmdk', /difference to another file/],
      ['source.raw', /it is raw, which needs no conversion/],
      ['old.vdi', /old\.qcow2.* exists already/],
      ['torn.vdi', /cannot be (made|read)/],
      ['gone.vdi', /gone\.vdi/],
      ['../../etc/passwd', /passwd/],
    ];
    expectFault(await client.send('POST /v2/compute/qemu/convert', { body: { source: long } }), 507);
    // The first of two disks could be converted.
    await copyFile(join(images, 'source.raw'), join(images, 'other.raw'));
    await img('convert', '-f', 'raw', '-O', 'vdi', 'other.raw', 'first.vdi');
    before.push('other.raw', 'first.vdi');
    expectFault(await send(old, ['first.vdi', 'torn.vdi']), 409, /torn\.vdi|cannot be/);
    for (const [disk, says] of bad) {
      const { status, text } = await convert(old, [disk]);
      assert.ok(status >= 400 && status < 500, `${disk}: ${status} ${text}`);
      assert.match(text, says);
    }
    assert.deepEqual((await readdir(images)).sort(), before.sort());
    assert.equal((await client.get<NodeBody[]>(`${project.path}/nodes`)).length, nodes);
    const pc = await createNode(client, project, 'vpcs');
    expectFault(await send(pc, ['old.vdi']), 409);
    expectFault(await send(old, []), 400);
  });
});
