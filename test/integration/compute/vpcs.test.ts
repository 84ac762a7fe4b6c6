/** The life of nodes on a real compute with a real fabric, with the lightest emulator there is. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { access, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Store } from '../../../src/compute/store.ts';
import { runMarker } from '../../../src/process/child.ts';
import { waitFor } from '../../support/wait-for.ts';
import { connectedFabric } from '../../support/with-fabric.ts';
import { makeProject, RemoteCompute, setUp } from './harness.ts';

const nodes = 'POST /v2/compute/projects/{project_id}/vpcs/nodes';
const node = '/v2/compute/projects/{project_id}/vpcs/nodes/{node_id}';
const nio = `${node}/adapters/{adapter_number:\\d+}/ports/{port_number:\\d+}/nio`;
const port0 = { adapter_number: '0', port_number: '0' };

interface Pc {
  node_id: string;
  project_id: string;
  console: number;
  status: string;
  node_directory: string;
}

describe('nodes on a compute', () => {
  let compute: RemoteCompute;
  let folder: string;
  let leave: (last: RemoteCompute) => Promise<void>;
  let project: { project_id: string };
  before(async () => {
    ({ compute, folder, leave } = await setUp());
    project = await makeProject(compute);
  });
  after(() => leave?.(compute));

  const makePc = (name: string, more: object = {}) => compute.call<Pc>(nodes, project, { name, ...more });
  const get = (pc: Pc) => compute.call<Pc>(`GET ${node}`, { ...pc });

  /** Joins two nodes as a controller does. */
  async function join2(one: Pc, other: Pc, more: object = {}): Promise<[number, number]> {
    const ask = () => compute.call<{ udp_port: number }>('POST /v2/compute/projects/{project_id}/ports/udp', project);
    const [a, b] = [(await ask()).udp_port, (await ask()).udp_port];
    await compute.call(`POST ${nio}`, { ...one, ...port0 }, { type: 'nio_udp', lport: a, rhost: '127.0.0.1', rport: b, ...more });
    await compute.call(`POST ${nio}`, { ...other, ...port0 }, { type: 'nio_udp', lport: b, rhost: '127.0.0.1', rport: a });
    return [a, b];
  }

  it('two nodes talk, through a filter that changes, across the death of the server', async () => {
    const one = await makePc('one', { startup_script: 'ip 10.0.0.1/24\n' });
    const other = await makePc('other', { startup_script: 'ip 10.0.0.2/24\n' });
    const [a, b] = await join2(one, other);
    for (const pc of [one, other]) await compute.call(`POST ${node}/start`, { ...pc });
    assert.match(await ping(one.console), /seq=\d+ ttl=64/);
    await compute.call(
      `PUT ${nio}`,
      { ...one, ...port0 },
      { type: 'nio_udp', lport: a, rhost: '127.0.0.1', rport: b, filters: { frequency_drop: [-1] } },
    );
    assert.match(await ping(one.console), /not reachable|timeout/);
    await compute.call(
      `PUT ${nio}`,
      { ...one, ...port0 },
      { type: 'nio_udp', lport: a, rhost: '127.0.0.1', rport: b, filters: {} },
    );
    await compute.kill();
    compute = await RemoteCompute.start(folder);
    assert.deepEqual([(await get(one)).status, (await get(other)).status], ['started', 'started']);
    assert.equal((await get(one)).console, one.console);
    assert.match(await ping(one.console), /seq=\d+ ttl=64/);
    const { udp_ports } = await compute.call<{ udp_ports: number[] }>('GET /v2/compute/network/ports');
    assert.ok(udp_ports.includes(a) && udp_ports.includes(b));
    await compute.call(`POST ${node}/stop`, { ...one });
    assert.equal((await get(one)).status, 'stopped');
    await compute.call(`DELETE ${node}`, { ...one });
    await compute.call(`DELETE ${node}`, { ...other });
    const left = await compute.call<{ udp_ports: number[]; console_ports: number[] }>('GET /v2/compute/network/ports');
    assert.deepEqual([left.udp_ports, left.console_ports], [[], []]);
  });

  it('serialises verbs: start while starting, delete while starting', async () => {
    const pc = await makePc('busy');
    const started = await Promise.all([1, 2, 3].map(() => compute.call<Pc>(`POST ${node}/start`, { ...pc })));
    assert.deepEqual(new Set(started.map(({ status }) => status)), new Set(['started']));
    assert.equal(compute.events.filter(({ event }) => event.node_id === pc.node_id && event.status === 'started').length, 1);
    await compute.call(`POST ${node}/stop`, { ...pc });
    const starting = compute.call(`POST ${node}/start`, { ...pc });
    await compute.call(`DELETE ${node}`, { ...pc });
    await starting;
    await assert.rejects(get(pc), { code: 'node_not_found' });
    assert.ok(
      compute.events.some(
        ({ action, event }) => action === 'node.deleted' && event.node_id === pc.node_id && event.console === null,
      ),
    );
    await assert.rejects(access(pc.node_directory));
  });

  it('reports that a PC has ended by itself, and a later stop succeeds', async () => {
    const pc = await makePc('mortal');
    await compute.call(`POST ${node}/start`, { ...pc });
    compute.events.length = 0;
    await say(pc.console, 'quit\n', /quit/);
    await compute.until('stopped', (events) =>
      events.some(({ event }) => event.node_id === pc.node_id && event.status === 'stopped'),
    );
    await compute.call(`POST ${node}/stop`, { ...pc });
    assert.equal((await get(pc)).status, 'stopped');
    await compute.call(`POST ${node}/start`, { ...pc });
    assert.equal((await get(pc)).status, 'started');
    await compute.call(`DELETE ${node}`, { ...pc });
  });

  it('checks NIOs', async () => {
    const pc = await makePc('nios');
    const bind = (body: object, at: object = port0) => compute.call(`POST ${nio}`, { ...pc, ...port0, ...at }, body);
    const good = { type: 'nio_udp', lport: 25_001, rhost: '127.0.0.1', rport: 25_002 };
    assert.deepEqual(await bind({ ...good, filters: { delay: [5, 0] }, suspend: true }), good);
    assert.deepEqual(await bind(good, { adapter_number: '7' }), good, 'the adapter is ignored, the binding replaced');
    await assert.rejects(bind(good, { port_number: '1' }), { code: 'adapter_missing' });
    await assert.rejects(bind({ type: 'nio_tap', tap_device: 'tap0' }), { code: 'nio_type' });
    await assert.rejects(bind({ ...good, filters: { nonsense: [1] } }), { code: 'filter_invalid' });
    await assert.rejects(bind({ ...good, filters: { bpf: ['no such thing'] } }), { code: 'filter_invalid' });
    await assert.rejects(bind({ ...good, rhost: 'no.such.host.invalid' }), { code: 'host_unknown' });
    const second = await makePc('second');
    await compute.call(`POST ${node}/start`, { ...pc });
    const taken = compute.call(`POST ${nio}`, { ...second, ...port0 }, good);
    await assert.rejects(taken, { code: 'udp_port_taken' });
    assert.deepEqual(await compute.call(`PUT ${nio}`, { ...pc, ...port0 }, { ...good, suspend: true }), { ...good, suspend: true });
    await compute.call(`DELETE ${nio}`, { ...pc, ...port0 });
    await assert.rejects(compute.call(`DELETE ${nio}`, { ...pc, ...port0 }), { code: 'nio_missing' });
    await assert.rejects(compute.call(`PUT ${nio}`, { ...pc, ...port0 }, good), { code: 'nio_missing' });
    for (const gone of [pc, second]) await compute.call(`DELETE ${node}`, { ...gone });
  });

  it('keeps consoles by the rules', async () => {
    const pc = await makePc('console');
    const put = (body: object) => compute.call<Pc>(`PUT ${node}`, { ...pc }, body);
    const other = await makePc('other', { console: pc.console });
    assert.notEqual(other.console, pc.console);
    assert.equal((await put({ console: null })).console, null);
    assert.equal((await put({ console_type: 'none' })).console, null);
    const back = await put({ console_type: 'telnet' });
    assert.ok(back.console > 0);
    await compute.call(`POST ${node}/start`, { ...pc });
    await assert.rejects(put({ console_type: 'none' }), { code: 'node_running' });
    const moved = await put({ console: null });
    assert.equal(moved.console, null);
    const again = await put({ console: back.console });
    assert.match(await say(again.console, '?\n', /show/), /show/);
    for (const gone of [pc, other]) await compute.call(`DELETE ${node}`, { ...gone });
  });

  it('creates a node once, renames it with its files, duplicates it', async () => {
    const node_id = randomUUID();
    const pc = await makePc('first', { node_id, startup_script: 'set pcname %h\nip 10.1.1.1/24\n' });
    assert.deepEqual(await makePc('again', { node_id }), pc);
    await compute.call(`PUT ${node}`, { ...pc }, { name: 'renamed' });
    assert.match(await readFile(join(pc.node_directory, 'startup.vpc'), 'utf8'), /^set pcname renamed$/m);
    const copy = await makePc('copy');
    const same = await compute.call<Pc>(`POST ${node}/duplicate`, { ...pc }, { destination_node_id: copy.node_id });
    assert.equal(same.node_id, copy.node_id);
    assert.match(await readFile(join(copy.node_directory, 'startup.vpc'), 'utf8'), /^set pcname copy$/m);
    const elsewhere = await makeProject(compute);
    await assert.rejects(compute.call(nodes, elsewhere, { name: 'x', node_id }), { code: 'node_id_taken' });
    await assert.rejects(compute.call(`GET ${node}`, { ...elsewhere, node_id }), { code: 'node_not_found' });
    await assert.rejects(compute.call(`GET ${node}`, { project_id: 'nope', node_id }), { code: 'invalid_request' });
    await compute.call('DELETE /v2/compute/projects/{project_id}', elsewhere);
    for (const gone of [pc, copy]) await compute.call(`DELETE ${node}`, { ...gone });
  });

  it('copies the files of a project under new ids, all or nothing', async () => {
    const pc = await makePc('source', { startup_script: 'ip 10.9.9.9/24\n' });
    await mkdir(join(folder, 'projects', project.project_id, 'project-files', 'captures'), { recursive: true });
    await writeFile(join(folder, 'projects', project.project_id, 'project-files', 'captures', 'a.pcap'), 'x');
    await compute.call(`POST ${node}/start`, { ...pc });
    const key = 'POST /v2/compute/projects/{project_id}/copy';
    const to = await makeProject(compute);
    const body = { destination_project_id: to.project_id, nodes: { [pc.node_id]: randomUUID() } };
    await compute.call(key, project, body);
    const files = join(folder, 'projects', body.destination_project_id, 'project-files');
    assert.match(await readFile(join(files, 'vpcs', body.nodes[pc.node_id] ?? '', 'startup.vpc'), 'utf8'), /10\.9\.9\.9/);
    await access(join(files, 'captures', 'a.pcap'));
    await assert.rejects(compute.call(key, project, body), { code: 'project_path_taken' });
    await assert.rejects(compute.call(key, project, { ...body, destination_path: '/' }), { code: 'path_forbidden' });
    await compute.call('DELETE /v2/compute/projects/{project_id}', to);
    await compute.call(`DELETE ${node}`, { ...pc });
  });

  it('copies nothing to an unknown node', async () => {
    const before = await readdir(join(folder, 'projects'));
    const key = 'POST /v2/compute/projects/{project_id}/copy';
    const body = { destination_project_id: randomUUID(), nodes: {} };
    await assert.rejects(compute.call(key, project, body), { code: 'project_not_found' });
    const destination_path = join(folder, 'projects', 'none');
    await assert.rejects(compute.call(key, project, { ...body, destination_path }), { code: 'path_forbidden' });
    assert.deepEqual(await readdir(join(folder, 'projects')), before);
  });

  it('closes and deletes a project with all that runs in it', async () => {
    const own = await makeProject(compute);
    const pcs = await Promise.all([1, 2].map((n) => compute.call<Pc>(nodes, own, { name: `PC${n}` })));
    await Promise.all(pcs.map((pc) => compute.call(`POST ${node}/start`, { ...pc })));
    await compute.call('DELETE /v2/compute/projects/{project_id}', own);
    await assert.rejects(access(join(folder, 'projects', own.project_id)));
    await assert.rejects(compute.call('GET /v2/compute/projects/{project_id}', own), { code: 'project_not_found' });
  });

  it('ends orphaned processes and PCs when it starts', async () => {
    const pc = await makePc('orphan');
    await compute.call(`POST ${node}/start`, { ...pc });
    await compute.kill();
    const journal = join(folder, 'state', 'compute.journal');
    await writeFile(journal, '');
    const half = join(folder, 'half');
    const store = await Store.open(journal, assert.fail);
    await store.beginCopy(half);
    await store.close();
    const copying = spawn(process.execPath, ['-e', copyForever, half], {
      env: { ...process.env, [runMarker]: join(folder, 'run') },
      stdio: 'ignore',
    });
    try {
      await waitFor(() => existsSync(half), { what: 'the begin of a copy' });
      compute = await RemoteCompute.start(folder);
    } finally {
      copying.kill('SIGKILL');
    }
    const fabric = await connectedFabric({
      socketPath: join(folder, 'run', 'fabric.sock'),
      logPath: join(folder, 'log'),
    });
    try {
      assert.equal(await fabric.pcState(pc.node_id), null);
    } finally {
      fabric.close();
    }
    assert.equal(existsSync(half), false, 'a half copy stays, as something still copied when it was removed');
  });
});

/** A program that makes its folder again when that is removed. */
const copyForever = `
  setInterval(() => require('node:fs').mkdirSync(process.argv[1] + '/a', { recursive: true }), 1);
`;

function ping(port: number): Promise<string> {
  return say(port, 'ping 10.0.0.2 -c 1\n', /seq=\d+ ttl=64|not reachable|timeout/);
}

/** Types a line at a console until it is answered; after 2 s also without a prompt, which an earlier console may have got. */
function say(port: number, line: string, answer: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    let sentAt = -1;
    const socket: Socket = connect(port, '127.0.0.1');
    const type = () => {
      if (sentAt < 0) sentAt = text.length;
      socket.write(line.replace('\n', '\r\n'));
    };
    const again = setInterval(type, 10_000);
    const unprompted = setTimeout(() => sentAt < 0 && type(), 2000);
    const limit = setTimeout(() => done(new Error(`no answer: ${text}`)), 60_000);
    const done = (error?: Error) => {
      clearTimeout(limit);
      clearInterval(again);
      clearTimeout(unprompted);
      socket.destroy();
      if (error) reject(error);
      else resolve(text.slice(sentAt));
    };
    socket.on('error', done);
    socket.setEncoding('latin1').on('data', (data: string) => {
      text += data;
      // Earlier output is skipped; the reply follows the echo of our line.
      if (sentAt < 0 && text.includes('>')) type();
      else if (sentAt >= 0 && answer.test(text.slice(sentAt))) done();
    });
  });
}
