/** Templates over HTTP: their life cycle, their storage, and nodes created from them. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { expectFault, expectStatus } from '../support/raw-http.ts';
import { openWebSocket } from '../support/web-socket.ts';
import { createProject, freshName, type NodeBody, withServer } from '../support/with-server.ts';

interface TemplateBody {
  template_id: string;
  name: string;
  [key: string]: unknown;
}

const { server, client } = await withServer();
const make = (fields: Record<string, unknown> = {}) =>
  client.post<TemplateBody>('/v2/templates', { name: freshName('T'), template_type: 'qemu', compute_id: 'local', ...fields });
const list = () => client.get<TemplateBody[]>('/v2/templates');
const pc = '19021f99-e36f-394d-b4a1-8aaa902ab9cc';
const nat = 'df8f4ea9-33b7-3e96-86a2-c39bc9bb649c';
const atm = 'aaa764e2-b383-300f-8a0e-3493bbfdb7d2';
const machines = join(server.dataDir, 'warm-machines');
const makeMachine = async () => {
  const id = randomUUID();
  await mkdir(join(machines, id), { recursive: true });
  return id;
};

describe('templates', () => {
  test('are completed with the defaults of their type', async () => {
    const made = await make({ ram: 64, hda_disk_image: 'a.qcow2' });
    const { ram, cpus, process_priority, symbol, category, builtin, default_name_format, hda_disk_interface } = made;
    assert.deepEqual(
      { ram, cpus, process_priority, symbol, category, builtin, default_name_format, hda_disk_interface },
      {
        ram: 64,
        cpus: 1,
        process_priority: 'normal',
        symbol: ':/symbols/qemu_guest.svg',
        category: 'guest',
        builtin: false,
        default_name_format: '{name}-{0}',
        hda_disk_interface: 'none',
      },
    );
    assert.deepEqual(await client.get(`/v2/templates/${made.template_id}`), made);
  });

  test('of every type can be made from what the type requires', async () => {
    const types: Record<string, Record<string, unknown>> = {
      cloud: {},
      ethernet_hub: {},
      ethernet_switch: {},
      docker: { image: 'alpine' },
      dynamips: { platform: 'c7200', image: 'c7200.bin', slot0: 'C7200-IO-FE' },
      vpcs: {},
      traceng: {},
      virtualbox: { vmname: 'vm' },
      vmware: { vmx_path: '/vm.vmx' },
      iou: { path: 'l3.bin' },
      qemu: {},
    };
    for (const [template_type, fields] of Object.entries(types)) {
      const made = await make({ template_type, ...fields });
      assert.equal(made.template_type, template_type);
      // The server accepts its own template back.
      assert.deepEqual(await client.put(`/v2/templates/${made.template_id}`, made), made);
    }
    const router = await make({ template_type: 'dynamips', platform: 'c2600', chassis: '2651XM', image: 'x' });
    assert.deepEqual([router.ram, router.iomem, router.sparsemem], [160, 15, true]);
  });

  test('are refused with words that say why', async () => {
    const refused: [Record<string, unknown>, RegExp][] = [
      [{ nonsense: 1 }, /nonsense/],
      [{ ram: 'much' }, /ram/],
      [{ template_type: 'nat' }, /nat/],
      [{ template_type: 'dynamips', platform: 'c2600', image: 'x' }, /chassis/],
      [{ template_type: 'dynamips', platform: 'constructor', image: 'x' }, /platform/],
      [{ template_type: 'docker' }, /image/],
      [
        { template_type: 'ethernet_switch', ports_mapping: [{ name: 'a', port_number: 0, type: 'access' }, { name: 'b' }] },
        /ports/,
      ],
      [{ compute_id: undefined }, /compute_id/],
      [{ category: 9 }, /category/],
    ];
    const before = await list();
    for (const [fields, says] of refused) {
      const body = { name: 'x', template_type: 'qemu', compute_id: 'local', ...fields };
      expectFault(await client.send('POST /v2/templates', { body }), 400, says);
    }
    assert.deepEqual(await list(), before);
  });

  test('are changed, and checked when they are; id, type and compute stay', async () => {
    const made = await make();
    const path = `/v2/templates/${made.template_id}`;
    const changed = await client.put(path, { ram: 512, category: 0, template_type: 'vpcs', compute_id: 'other', builtin: true });
    assert.deepEqual(changed, { ...made, ram: 512, category: 'router' });
    expectFault(await client.send(`PUT ${path}`, { body: { ram: 'x' } }), 400, /ram/);
    expectFault(await client.send(`PUT ${path}`, { body: { nonsense: true } }), 400, /nonsense/);
    assert.deepEqual(await client.get(path), changed);
  });

  test('are duplicated and deleted', async () => {
    const made = await make();
    const copy = await client.post<TemplateBody>(`/v2/templates/${made.template_id}/duplicate`);
    assert.notEqual(copy.template_id, made.template_id);
    assert.deepEqual({ ...copy, template_id: made.template_id }, made);
    expectFault(await client.send('POST /v2/templates', { body: made }), 409, /already/);
    await client.delete(`/v2/templates/${made.template_id}`);
    expectFault(await client.send(`GET /v2/templates/${made.template_id}`), 404, /Template ID/);
    expectFault(await client.send(`DELETE /v2/templates/${made.template_id}`), 404);
  });

  test('have an ETag, and a client that has the text is not sent it again', async () => {
    const made = await make();
    const line = `GET /v2/templates/${made.template_id}`;
    const etag = String(expectStatus(await client.send(line), 200).headers.etag);
    assert.match(etag, /^"[0-9a-f]{32}"$/);
    for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const same = expectStatus(await client.send(line, { headers: { 'if-none-match': known } }), 304);
      assert.equal(same.bytes.length, 0);
      assert.equal(same.headers.etag, etag);
    }
    await client.put(`/v2/templates/${made.template_id}`, { ram: 1 });
    expectStatus(await client.send(line, { headers: { 'if-none-match': etag } }), 200);
  });

  test('notify listeners of the controller', async () => {
    const socket = await openWebSocket(`${server.url}/v2/notifications/ws`);
    const made = await make();
    const changed = await client.put(`/v2/templates/${made.template_id}`, { ram: 7 });
    await client.delete(`/v2/templates/${made.template_id}`);
    await socket.next((message) => String(message).includes('template.deleted'), 15_000);
    const events = socket.messages
      .map((message) => JSON.parse(String(message)) as { action: string })
      .filter(({ action }) => action.startsWith('template.'));
    assert.deepEqual(events, [
      { action: 'template.created', event: made },
      { action: 'template.updated', event: changed },
      { action: 'template.deleted', event: changed },
    ]);
    socket.close();
  });

  test('built in have the ids that clients know, change in memory and cannot be deleted', async () => {
    const built = (await list()).filter(({ builtin }) => builtin);
    assert.deepEqual(
      built.map(({ name }) => name),
      ['Cloud', 'NAT', 'VPCS', 'Ethernet switch', 'Ethernet hub', 'Frame Relay switch', 'ATM switch'],
    );
    for (const template of built) {
      assert.deepEqual(await client.get(`/v2/templates/${template.template_id}`), template);
      assert.equal(template.compute_id, null);
      assert.deepEqual(await client.put(`/v2/templates/${template.template_id}`, template), template);
      expectFault(await client.send(`DELETE /v2/templates/${template.template_id}`), 409, /built in/);
      expectFault(await client.send(`POST /v2/templates/${template.template_id}/duplicate`), 409, /built in/);
    }
    assert.equal((await client.put(`/v2/templates/${atm}`, { category: 3 })).category, 'firewall');
    expectFault(await client.send(`PUT /v2/templates/${atm}`, { body: { ram: 1 } }), 400, /ram/);
  });
});

describe('nodes from templates', () => {
  const use = (project: { path: string }, id: string, fields: Record<string, unknown> = {}) =>
    client.send(`POST ${project.path}/templates/${id}`, { body: { x: 10, y: -20, ...fields } });

  test('have its settings, its name with a number, and its id', async () => {
    const project = await createProject(client);
    const template = await make({
      name: 'My $& guest',
      ram: 24,
      adapters: 2,
      port_name_format: 'eth{0}',
      symbol: ':/symbols/router.svg',
      console_type: 'none',
      usage: 'log in',
    });
    const node = expectStatus(await use(project, template.template_id), 201).json<NodeBody>();
    const { name, x, y, symbol, width, height, template_id, console_type, node_type, compute_id } = node;
    assert.deepEqual(
      { name, x, y, symbol, width, height, template_id, console_type, node_type, compute_id },
      {
        name: 'My$&guest-1',
        x: 10,
        y: -20,
        symbol: ':/symbols/router.svg',
        width: 66,
        height: 45,
        template_id: template.template_id,
        console_type: 'none',
        node_type: 'qemu',
        compute_id: 'local',
      },
    );
    const { ram, adapters, usage, process_priority } = node.properties;
    assert.deepEqual([ram, adapters, usage, process_priority], [24, 2, 'log in', 'normal']);
    assert.deepEqual(
      (node.ports as { name: string }[]).map((port) => port.name),
      ['eth0', 'eth1'],
    );
    assert.equal(expectStatus(await use(project, template.template_id), 201).json().name, 'My$&guest-2');
    assert.equal(expectStatus(await use(project, template.template_id, { name: 'own' }), 201).json().name, 'own');
  });

  test("read the file that the template names, or the kind's own", async () => {
    const project = await createProject(client);
    const node = expectStatus(await use(project, pc, { compute_id: 'local' }), 201).json<NodeBody>();
    assert.equal(node.name, 'PC1');
    assert.equal(node.symbol, ':/symbols/vpcs_guest.svg');
    const script = join(server.dataDir, 'projects', project.id, 'project-files', 'vpcs', node.node_id, 'startup.vpc');
    assert.equal(await readFile(script, 'utf8'), 'set pcname PC1\n');

    const configs = join(server.dataDir, 'configs');
    await mkdir(configs, { recursive: true });
    await writeFile(join(configs, 'vpcs_base_config.txt'), 'ip dhcp\n');
    const other = expectStatus(await use(project, pc, { compute_id: 'local' }), 201).json<NodeBody>();
    assert.equal(await readFile(script.replace(node.node_id, other.node_id), 'utf8'), 'ip dhcp\n');
  });

  test('are refused where something is missing', async () => {
    const project = await createProject(client);
    expectFault(await use(project, pc), 404, /Compute ID None/);
    expectFault(await use(project, pc, { compute_id: 'nowhere' }), 404, /nowhere/);
    expectFault(await use(project, randomUUID()), 404, /Template ID/);
    expectFault(await use(project, pc, { z: 1, compute_id: 'local' }), 400, /z/);
    expectFault(await use(project, pc, { x: 'left', compute_id: 'local' }), 400, /x/);
    const elsewhere = await make({ compute_id: null });
    expectFault(await use(project, elsewhere.template_id), 404, /Compute ID/);
    assert.deepEqual(await client.get(`${project.path}/nodes`), []);
    await client.post(`${project.path}/close`, {}, 204);
    expectFault(await use(project, pc, { compute_id: 'local' }), 403, /not opened/);
    expectFault(await client.send(`POST /v2/projects/${randomUUID()}/templates/${nat}`, { body: { x: 0, y: 0 } }), 404, /Project/);
  });
});

test('templates outlive the server, killed or not, and what cannot be used stays in the file', async () => {
  const made = await make({ template_type: 'vpcs' });
  const builtIn = await client.put(`/v2/templates/${pc}`, { default_name_format: 'Host{0}' });
  assert.equal(builtIn.default_name_format, 'Host{0}');
  const file = join(server.dataDir, 'state', 'templates.json');
  await server.kill9();
  const stored = JSON.parse(await readFile(file, 'utf8')) as { templates: unknown[] };
  const strange = { template_id: randomUUID(), template_type: 'from the future', name: 'x', more: [1, { a: null }] };
  const old = { template_id: randomUUID(), node_type: 'qemu', name: 'old', server: 'local', category: 1, linked_base: false };
  stored.templates.push(strange, 5, old);
  const [held, orphan] = [await makeMachine(), await makeMachine()];
  const warm = { machine_id: held, node_name: 'x', created_at: 1, bytes: 1, paused_ms: 1 };
  const warm_templates = { [strange.template_id]: warm, [made.template_id]: { ...warm, machine_id: '../x' }, [orphan]: warm };
  await writeFile(file, JSON.stringify({ ...stored, gns3vm: { enable: false }, warm_templates }));
  await server.restart();
  // The machine that the entry of the other template meant is not known: none is removed before a person has repaired it.
  assert.deepEqual((await readdir(machines)).sort(), [held, orphan].sort());
  assert.match(server.log(), new RegExp(`warm_templates for ${made.template_id} cannot be used`));
  const after = await list();
  assert.deepEqual(
    after.find(({ template_id }) => template_id === made.template_id),
    made,
  );
  assert.equal(after.find(({ template_id }) => template_id === pc)?.default_name_format, 'PC{0}');
  const upgraded = after.find(({ template_id }) => template_id === old.template_id);
  assert.deepEqual([upgraded?.category, upgraded?.linked_clone, upgraded?.compute_id], ['switch', false, 'local']);
  await make();
  const kept = JSON.parse(await readFile(file, 'utf8')) as {
    templates: { template_id?: string }[];
    gns3vm: unknown;
    warm_templates: unknown;
  };
  assert.deepEqual(kept.gns3vm, { enable: false });
  assert.deepEqual(kept.warm_templates, { [strange.template_id]: warm, [made.template_id]: { ...warm, machine_id: '../x' } });
  assert.deepEqual(kept.templates.slice(-2), [strange, 5]);
  await client.delete(`/v2/templates/${made.template_id}`);
  assert.deepEqual(JSON.parse(await readFile(file, 'utf8')).warm_templates, { [strange.template_id]: warm });
  await server.restart();
  assert.deepEqual(await readdir(machines), [held]);
});

test('a file that cannot be read is set aside and named, and templates can be made', async () => {
  const file = join(server.dataDir, 'state', 'templates.json');
  await server.terminate();
  await writeFile(file, '{"templates": [');
  const machine = await makeMachine();
  await server.restart();
  assert.ok((await readdir(machines)).includes(machine), 'what the damaged file held is kept until it can be repaired');
  assert.ok((await list()).every(({ builtin }) => builtin));
  const body = { name: 'x', template_type: 'vpcs', compute_id: 'local' };
  const [aside] = (await readdir(dirname(file))).filter((name) => name.startsWith('templates.json.damaged-'));
  assert.ok(aside !== undefined && server.log().includes(aside));
  assert.equal(await readFile(join(dirname(file), aside), 'utf8'), '{"templates": [');
  const { template_id } = await client.post<TemplateBody>('/v2/templates', body);
  await server.restart();
  assert.ok((await list()).some((template) => template.template_id === template_id));
  const left = await readdir(machines);
  assert.ok(left.includes(machine), 'also by the start after a template was made');
  assert.match(server.log(), /machines of lost templates are kept.*templates\.json\.damaged-/);
  await rm(join(dirname(file), aside));
  await server.restart();
  assert.ok(!(await readdir(machines)).includes(machine), 'an administrator gave the list up');
});
