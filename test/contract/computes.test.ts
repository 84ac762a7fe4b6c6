/** The compute routes, all of the table, against the local compute and against a second server that serves as a remote one. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { expectFault, expectStatus } from '../support/raw-http.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { createNode, createProject, end, freshName, withServer } from '../support/with-server.ts';
import { assertShape, computeShape } from './shapes.ts';

interface ComputeBody {
  compute_id: string;
  connected: boolean;
  [key: string]: unknown;
}

const user = 'remoteuser';
const password = 'correct-horse-battery';
const bench = await withServer();
let remote: RunningServer;
let away: ComputeBody;

const address = () => ({ protocol: 'http', host: '127.0.0.1', port: remote.port, user, password });
before(async () => {
  remote = await startServer({ config: { Server: { auth: true, user, password }, Qemu: { acceleration: 'off' } } });
  away = await bench.client.post<ComputeBody>('/v2/computes', { compute_id: randomUUID(), name: 'away', ...address() });
});
after(() => remote?.stop());

/** No answer may contain the password, in whatever form. */
async function silent(line: string, body?: unknown): Promise<ReturnType<typeof bench.client.send>> {
  const reply = await bench.client.send(line, body === undefined ? {} : { body });
  for (const form of [password, Buffer.from(`${user}:${password}`).toString('base64'), Buffer.from(password).toString('base64')]) {
    assert.ok(!reply.text().includes(form), `${line} shows the password`);
    assert.ok(!JSON.stringify(reply.headers).includes(form), `${line} shows the password in a header`);
  }
  return reply;
}

describe('POST, GET, PUT and DELETE of computes', () => {
  test('local always exists', async () => {
    const local = await bench.client.get<ComputeBody>('/v2/computes/local');
    assertShape(local, computeShape);
    assert.equal(local.connected, true);
    assert.ok((await bench.client.get<ComputeBody[]>('/v2/computes')).some(({ compute_id }) => compute_id === 'local'));
  });

  test('a registered one is connected, has capabilities, and its password never comes back', async () => {
    const reply = await silent(`GET /v2/computes/${away.compute_id}`);
    const compute = expectStatus(reply, 200).json<ComputeBody & { capabilities: { node_types: string[]; version: string } }>();
    assertShape(compute, computeShape);
    assert.ok(!('password' in compute));
    assert.deepEqual([compute.connected, compute.user, compute.name], [true, user, 'away']);
    assert.ok(compute.capabilities.node_types.includes('qemu'));
    const { version } = await bench.client.get<{ version: string }>('/v2/version');
    assert.equal(compute.capabilities.version, version);
  });

  test('the id is made when none is given, the name from the address', async () => {
    const made = await bench.client.post<ComputeBody>('/v2/computes', address());
    assert.match(made.compute_id, /^[0-9a-f-]{36}$/);
    assert.equal(made.name, `http://${user}@127.0.0.1:${remote.port}`);
    await bench.client.delete(`/v2/computes/${made.compute_id}`);
  });

  test('a registered id again is 201 with what exists; a taken name is 409', async () => {
    const again = await bench.client.post<ComputeBody>('/v2/computes', {
      compute_id: away.compute_id,
      name: 'other',
      ...address(),
    });
    assert.equal(again.name, 'away');
    expectFault(await silent('POST /v2/computes', { name: 'away', ...address() }), 409, /away/);
  });

  test('no server listens there: 201, not connected, with the reason', async () => {
    const reply = await silent('POST /v2/computes', { ...address(), name: 'silent', port: 1 });
    const compute = expectStatus(reply, 201).json<ComputeBody>();
    assert.equal(compute.connected, false);
    assert.deepEqual(compute.capabilities, { ...(compute.capabilities as object), node_types: [], version: null });
    await bench.client.delete(`/v2/computes/${compute.compute_id}`);
  });

  test('a wrong password: refused or not connected, and never shown', async () => {
    const reply = await silent('POST /v2/computes', { ...address(), name: 'wrong', password: 'not-the-password' });
    assert.ok(!reply.text().includes('not-the-password'));
    assert.ok([201, 401, 409].includes(reply.status), reply.text());
    if (reply.status === 201) await bench.client.delete(`/v2/computes/${reply.json<ComputeBody>().compute_id}`);
    else assert.ok(!(await bench.client.get<ComputeBody[]>('/v2/computes')).some(({ name }) => name === 'wrong'));
  });

  test('PUT changes name, address and credentials; compute_id in the body is ignored', async () => {
    const made = await bench.client.post<ComputeBody>('/v2/computes', { ...address(), name: 'before' });
    const path = `/v2/computes/${made.compute_id}`;
    const changed = await silent(`PUT ${path}`, { name: 'after', compute_id: 'other', password });
    assert.deepEqual([changed.status, changed.json().name, changed.json().compute_id], [200, 'after', made.compute_id]);
    expectFault(await silent(`PUT ${path}`, { name: 5, password }), 400, /name/);
    expectFault(await silent(`PUT ${path}`, { nonsense: 5, password }), 400, /nonsense/);
    await bench.client.delete(path);
  });

  test('DELETE is 204, for an unknown id too; afterwards it is 404', async () => {
    const made = await bench.client.post<ComputeBody>('/v2/computes', { ...address(), name: freshName('c') });
    for (let round = 0; round < 2; round++) expectStatus(await bench.client.send(`DELETE /v2/computes/${made.compute_id}`), 204);
    for (const line of ['GET', 'PUT'])
      expectFault(await bench.client.send(`${line} /v2/computes/${made.compute_id}`, { body: {} }), 404);
  });

  const refused: [string, Record<string, unknown>][] = [
    ['no protocol', { host: 'x', port: 1 }],
    ['no host', { protocol: 'http', port: 1 }],
    ['no port', { protocol: 'http', host: 'x' }],
    ['another protocol', { protocol: 'ftp', host: 'x', port: 1 }],
    ['port as text', { protocol: 'http', host: 'x', port: '1' }],
    ['port 0', { protocol: 'http', host: 'x', port: 0 }],
    ['port 65536', { protocol: 'http', host: 'x', port: 65536 }],
    ['an empty host', { protocol: 'http', host: '', port: 1 }],
    ['an unknown key', { protocol: 'http', host: 'x', port: 1, nonsense: 1 }],
    ['the id vm', { protocol: 'http', host: 'x', port: 1, compute_id: 'vm' }],
    ['the name gns3vm', { protocol: 'http', host: 'x', port: 1, name: 'gns3vm' }],
  ];
  for (const [what, body] of refused) {
    test(`${what}: 400, the list stays, the password is not echoed`, async () => {
      const before = (await bench.client.get<ComputeBody[]>('/v2/computes')).length;
      expectFault(await silent('POST /v2/computes', { ...body, password }), 400);
      assert.equal((await bench.client.get<ComputeBody[]>('/v2/computes')).length, before);
    });
  }

  test('registered computes survive a restart of the server, with their credentials, and the local one its name', async () => {
    const name = freshName('own host');
    expectStatus(await silent('PUT /v2/computes/local', { name }), 200);
    await bench.server.kill9();
    await bench.server.restart();
    assert.equal((await silent('GET /v2/computes/local')).json().name, name);
    const reply = await silent(`GET /v2/computes/${away.compute_id}/ports`);
    expectStatus(reply, 200);
  });
});

for (const which of ['local', 'away']) {
  describe(`routes of a compute: ${which}`, () => {
    const id = () => (which === 'local' ? 'local' : away.compute_id);

    test('ports', async () => {
      const ports = expectStatus(await silent(`GET /v2/computes/${id()}/ports`), 200).json();
      assert.deepEqual(Object.keys(ports), ['console_port_range', 'console_ports', 'udp_port_range', 'udp_ports']);
    });

    test('endpoint', async () => {
      const { endpoint } = (await silent(`GET /v2/computes/endpoint/${id()}/qemu/images/a%20b.iso`)).json<{ endpoint: string }>();
      assert.match(endpoint, /^http:\/\/[^/]+\/v2\/compute\/qemu\/images\/a(%20| )b\.iso$/);
      if (which === 'away') assert.equal(new URL(endpoint).port, String(remote.port));
    });

    test('images: uploaded through the proxy, then listed by name, then downloaded', async () => {
      for (const name of ['b.img', 'a.img']) {
        const raw = Buffer.from(`image ${name}`);
        const headers = { 'content-type': 'application/octet-stream' };
        const reply = await bench.client.send(`POST /v2/computes/${id()}/qemu/images/${name}`, { raw, headers });
        assert.deepEqual(expectStatus(reply, 200).json(), {});
      }
      const images = expectStatus(await silent(`GET /v2/computes/${id()}/qemu/images`), 200).json<{ filename: string }[]>();
      assert.deepEqual(
        images.map(({ filename }) => filename),
        ['a.img', 'b.img'],
      );
      expectFault(await silent(`GET /v2/computes/${id()}/vpcs/images`), 404);
    });

    test('proxy: GET', async () => {
      const binaries = expectStatus(await silent(`GET /v2/computes/${id()}/qemu/binaries`), 200).json<unknown[]>();
      assert.ok(binaries.length > 0);
      assert.ok('kvm' in expectStatus(await silent(`GET /v2/computes/${id()}/qemu/capabilities`), 200).json());
      assert.ok(Array.isArray(expectStatus(await silent(`GET /v2/computes/${id()}/network/interfaces`), 200).json()));
    });

    test('proxy: POST and PUT answer 200 with {} where the compute answers nothing', async () => {
      const body = { qemu_img: 'qemu-img', path: 'made.qcow2', format: 'qcow2', size: 4 };
      assert.deepEqual(expectStatus(await silent(`POST /v2/computes/${id()}/qemu/img`, body), 200).json(), {});
      const more = { qemu_img: 'qemu-img', path: 'made.qcow2', extend: 4 };
      assert.deepEqual(expectStatus(await silent(`PUT /v2/computes/${id()}/qemu/img`, more), 200).json(), {});
      expectFault(await silent(`POST /v2/computes/${id()}/qemu/img`, body), 409, /made\.qcow2/);
    });

    test('proxy: the errors of the compute are mapped, DELETE is 405', async () => {
      expectFault(await silent(`POST /v2/computes/${id()}/qemu/img`, { nonsense: 1 }), 400);
      expectFault(await silent(`GET /v2/computes/${id()}/nothing/here`), 404);
      expectStatus(await bench.client.send(`DELETE /v2/computes/${id()}/qemu/img`), 405);
    });

    test('auto_idlepc: 400 for a bad body, 409 because there is no such emulator', async () => {
      expectFault(await silent(`POST /v2/computes/${id()}/auto_idlepc`, {}), 400, /platform|image|ram/);
      expectFault(await silent(`POST /v2/computes/${id()}/auto_idlepc`, { platform: 'c7200', image: 'x', ram: 'much' }), 400);
      expectFault(await silent(`POST /v2/computes/${id()}/auto_idlepc`, { platform: 'c7200', image: 'x', ram: 256 }), 409);
    });

    test('nodes on it are made, listed and deleted', async () => {
      const project = await createProject(bench.client);
      const nodes = await Promise.all([1, 2].map(() => createNode(bench.client, project, 'vpcs', { compute_id: id() })));
      const [a, b] = nodes.map((node) => end(node));
      const link = expectStatus(await silent(`POST ${project.path}/links`, { nodes: [a, b] }), 201).json();
      expectStatus(await bench.client.send(`DELETE ${project.path}/links/${link.link_id}`), 204);
      for (const node of nodes) expectStatus(await bench.client.send(`DELETE ${project.path}/nodes/${node.node_id}`), 204);
      await bench.client.delete(project.path);
    });
  });
}

test('an unknown compute is 404 on every route', async () => {
  const id = randomUUID();
  const lines = ['', '/ports', '/qemu/images', '/qemu/binaries'].map((rest) => `GET /v2/computes/${id}${rest}`);
  lines.push(`GET /v2/computes/endpoint/${id}/qemu/images`, `POST /v2/computes/${id}/qemu/img`, `PUT /v2/computes/${id}/qemu/img`);
  for (const line of lines) expectFault(await bench.client.send(line), 404);
  const body = { platform: 'c7200', image: 'x', ram: 256 };
  expectFault(await bench.client.send(`POST /v2/computes/${id}/auto_idlepc`, { body }), 404);
});
