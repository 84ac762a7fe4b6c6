/** Creating QEMU nodes on the compute: fields, defaults, enums, refusals. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { before, describe, test } from 'node:test';
import { expectFault, expectStatus } from '../support/raw-http.ts';
import { createProject, freshName, type ProjectHandle, withServer } from '../support/with-server.ts';
import { fieldRows, notAccepted } from './qemu-fields.ts';
import { platforms } from './qemu-words.ts';
import { assertShape, qemuNodeShape } from './shapes.ts';

interface QemuBody {
  node_id: string;
  console: number | null;
  [key: string]: unknown;
}

const bench = await withServer();
let project: ProjectHandle;
let nodes: string;
let binaries: { path: string; version: string }[];
before(async () => {
  project = await createProject(bench.client);
  nodes = `${project.computePath}/qemu/nodes`;
  // The first node of a controller's project opens the project on the compute; here the test asks the compute directly.
  await bench.client.post('/v2/compute/projects', { name: 'here', project_id: project.id });
  binaries = await bench.client.get('/v2/compute/qemu/binaries');
});

const create = (body: Record<string, unknown> = {}) => bench.client.post<QemuBody>(nodes, { name: freshName('vm'), ...body });
const remove = (node: QemuBody) => bench.client.delete(`${nodes}/${node.node_id}`);
const ports = () => bench.client.get('/v2/compute/network/ports');
const show = (value: unknown) => JSON.stringify(value) ?? String(value);

describe('a request with name alone', () => {
  test('gives every field of the table, populated', async () => {
    const node = await create({ name: 'alone' });
    assertShape(node, qemuNodeShape, 'node');
    const { node_id, console, node_directory, qemu_path, ...rest } = node;
    assert.ok(typeof console === 'number');
    assert.equal(node_directory, `${bench.server.dataDir}/projects/${project.id}/project-files/qemu/${node_id}`);
    assert.match(String(qemu_path), /^\/.*\/qemu-system-/);
    const digits = node_id.replaceAll('-', '');
    const mac = `0c:${digits.slice(2, 4)}:${digits.slice(4, 6)}:${digits.slice(6, 8)}:00:00`;
    const defaults: Record<string, unknown> = {
      adapter_type: 'e1000',
      adapters: 1,
      boot_priority: 'c',
      command_line: '',
      console_type: 'telnet',
      cpu_throttling: 0,
      cpus: 1,
      hda_disk_interface: 'none',
      hda_disk_image: '',
      hda_disk_image_md5sum: null,
      kernel_command_line: '',
      legacy_networking: false,
      mac_address: mac,
      name: 'alone',
      on_close: 'power_off',
      options: '',
      process_priority: 'low',
      project_id: project.id,
      ram: 256,
      status: 'stopped',
      usage: '',
    };
    for (const [key, value] of Object.entries(defaults)) assert.deepEqual(rest[key], value, key);
    for (const key of ['custom_adapters', 'linked_clone']) assert.ok(!(key in node), `${key} is not returned`);
    assert.deepEqual(await bench.client.get(`${nodes}/${node_id}`), node);
    await remove(node);
  });

  test("takes the emulator of the host's architecture", async () => {
    const node = await create();
    const host: Record<string, string> = { x64: 'x86_64', arm64: 'aarch64' };
    assert.equal(node.platform, host[process.arch]);
    assert.ok(binaries.some(({ path }) => path === node.qemu_path));
    await remove(node);
  });
});

describe('node_id and console', () => {
  test('a given node_id is taken; the same again is 201 with the node that exists', async () => {
    const node_id = randomUUID();
    const node = await create({ node_id, name: 'first' });
    assert.equal(node.node_id, node_id);
    const again = await create({ node_id, name: 'second' });
    assert.equal(again.name, 'first');
    await remove(node);
  });

  test('a free console port is taken as given; a taken one gives another; none with console_type none', async () => {
    const first = await create();
    await remove(first);
    const wanted = await create({ console: first.console });
    assert.equal(wanted.console, first.console);
    const second = await create({ console: first.console });
    assert.notEqual(second.console, first.console);
    const none = await create({ console_type: 'none' });
    assert.equal(none.console, null);
    for (const node of [wanted, second, none]) await remove(node);
  });

  test('deleting a node gives its ports back', async () => {
    const before = await ports();
    await remove(await create());
    assert.deepEqual(await ports(), before);
  });
});

describe('each field of the request', () => {
  for (const { field, taken, refused } of fieldRows) {
    test(`${field} takes ${taken.length} values`, async () => {
      for (const row of taken) {
        const [sent, back] = row.length === 2 ? row : [row[0], row[0]];
        const node = await create({ [field]: sent });
        const place = `${field}: ${show(sent)}`;
        if (back instanceof RegExp) assert.match(String(node[field]), back, place);
        else assert.deepEqual(node[field], back, place);
        assertShape(node, qemuNodeShape, place);
        await remove(node);
      }
    });
    test(`${field} refuses ${refused.length} values with 400`, async () => {
      const before = await ports();
      for (const value of refused) {
        const reply = await bench.client.send(`POST ${nodes}`, { body: { name: freshName('vm'), [field]: value } });
        assert.equal(reply.status, 400, `${field}: ${show(value)} gives ${reply.status}: ${reply.text().slice(0, 300)}`);
        expectFault(reply, 400, new RegExp(field));
      }
      assert.deepEqual(await ports(), before);
    });
  }

  test('mac_address null and "" mean the address made from the node id', async () => {
    for (const mac_address of [null, '']) {
      const node = await create({ mac_address });
      assert.match(String(node.mac_address), /^0c:([0-9a-f]{2}:){3}00:00$|^0c(:[0-9a-f]{2}){3}:00:00$/);
      await remove(node);
    }
  });

  test('custom_adapters and linked_clone are taken and not returned', async () => {
    const custom_adapters = [{ adapter_number: 0, adapter_type: 'rtl8139', mac_address: '00:01:02:03:04:05', port_name: 'mgmt' }];
    const node = await create({ custom_adapters, linked_clone: false });
    assert.ok(!('custom_adapters' in node) && !('linked_clone' in node));
    await remove(node);
  });

  for (const [key, value] of Object.entries(notAccepted)) {
    test(`${key} is not accepted: 400`, async () => {
      const reply = await bench.client.send(`POST ${nodes}`, { raw: `{"name": "x", ${show(key)}: ${show(value)}}` });
      expectFault(reply, 400, new RegExp(key));
    });
  }

  test('without name: 400', async () => {
    expectFault(await bench.client.send(`POST ${nodes}`, { body: {} }), 400, /name/);
    for (const raw of ['[]', '"x"', '5', 'null', 'true']) {
      expectFault(await bench.client.send(`POST ${nodes}`, { raw }), 400);
    }
  });
});

describe('platforms', () => {
  for (const platform of platforms) {
    test(`${platform}: made when its emulator is installed, else 409 that says what to do`, async () => {
      const before = await ports();
      const reply = await bench.client.send(`POST ${nodes}`, { body: { name: freshName('vm'), platform } });
      if (binaries.some(({ path }) => path.endsWith(`/qemu-system-${platform}`))) {
        const node = expectStatus(reply, 201).json<QemuBody>();
        assert.equal(node.platform, platform);
        await remove(node);
      } else {
        const { exception } = expectFault(reply, 409, new RegExp(`qemu-system-${platform}.*(install|choose)`));
        assert.equal(exception, 'QemuError');
      }
      assert.deepEqual(await ports(), before);
    });
  }
});

describe('missing emulators and images', () => {
  const missing: [Record<string, unknown>, RegExp][] = [
    [{ qemu_path: 'qemu-system-vax' }, /qemu-system-vax.*(install|choose)/],
    [{ qemu_path: '/nowhere/qemu-system-x86_64x' }, /install|choose/],
    [{ qemu_path: '/bin/sh' }, /install|choose/],
    [{ qemu_path: 'sh' }, /install|choose/],
    [{ qemu_path: '../../../bin/sh' }, /install|choose/],
    [{ hda_disk_image: 'none-such.qcow2' }, /none-such\.qcow2.*upload/],
    [{ cdrom_image: 'none-such.iso' }, /none-such\.iso.*upload/],
    [{ kernel_image: 'none-such' }, /none-such.*upload/],
    [{ initrd: 'none-such' }, /none-such.*upload/],
    [{ bios_image: 'none-such' }, /none-such.*upload/],
  ];
  for (const [body, says] of missing) {
    test(`${show(body)}: 409 that says what to do, and nothing is left behind`, async () => {
      const before = await ports();
      const node_id = randomUUID();
      const fault = expectFault(await bench.client.send(`POST ${nodes}`, { body: { name: 'x', node_id, ...body } }), 409, says);
      const [key, value] = Object.entries(body)[0] as [string, unknown];
      if (key !== 'qemu_path') assert.deepEqual([fault.exception, fault.image], ['ImageMissingError', value]);
      assert.deepEqual(await ports(), before);
      expectFault(await bench.client.send(`GET ${nodes}/${node_id}`), 404);
    });
  }
});

describe('where nodes are looked for', () => {
  test('an unknown project is 404, an id that is no UUID is 400', async () => {
    expectFault(await bench.client.send(`POST /v2/compute/projects/${randomUUID()}/qemu/nodes`, { body: { name: 'x' } }), 404);
    for (const id of ['nope', '5', '%20', '..%2f..']) {
      expectFault(await bench.client.send(`POST /v2/compute/projects/${id}/qemu/nodes`, { body: { name: 'x' } }), 400);
      expectFault(await bench.client.send(`GET ${nodes}/${id}`), 400);
    }
  });

  test('a node under another kind or project is 404', async () => {
    const node = await create();
    const elsewhere = await bench.client.post<{ project_id: string }>('/v2/compute/projects', { name: 'elsewhere' });
    expectFault(await bench.client.send(`GET ${project.computePath}/vpcs/nodes/${node.node_id}`), 404);
    expectFault(await bench.client.send(`GET /v2/compute/projects/${elsewhere.project_id}/qemu/nodes/${node.node_id}`), 404);
    await remove(node);
  });
});
