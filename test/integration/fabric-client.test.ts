/** The server's side: finding, starting, losing and finding again; and what the control socket puts up with. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { isFault } from '../../src/api/faults.ts';
import { protocolVersion } from '../../src/fabric/protocol.ts';
import { prefixed } from '../support/frame-ends.ts';
import { killProcesses, processesNamed } from '../support/leftovers.ts';
import { waitFor } from '../support/wait-for.ts';
import { connectedFabric, linkOf, startFabric, startLink, streamEnd } from '../support/with-fabric.ts';

/** A fabric keeps compiled code in a folder of its own, unless the environment names one for all. */
const codeFolder = process.env.NODE_COMPILE_CACHE ? [] : ['code'];
const frame = (text: string) => Buffer.alloc(60, text);

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('the fabric’s client', () => {
  it('releases a running fabric, and adopts it again', async (context) => {
    const { client, socketPath, logPath, a, b } = await startLink(context, { filters: { latency: [1] } });
    a.send(frame('1'));
    await b.receive(1);
    client.close();
    await assert.rejects(client.stats(), (error) => isFault(error, 'fabric_unavailable'));
    a.send(frame('2'));
    await b.receive(2);
    const next = await connectedFabric({ socketPath, logPath });
    assert.equal(next.pid, client.pid);
    assert.equal((await next.stats())[0]?.ab.sent, 2);
    // Repeats the current state: nothing changes. Then sends an empty state.
    assert.deepEqual(await next.sync([linkOf(a.port, b.port, { filters: { latency: [1] } })]), []);
    assert.equal((await next.stats())[0]?.ab.sent, 2);
    assert.equal(a.connections, 1);
    await next.sync([]);
    assert.deepEqual(await next.stats(), []);
    await next.quit();
    assert.equal(isRunning(client.pid), false);
    assert.deepEqual(await readdir(socketPath.replace('/control', '')), ['a', 'b', ...codeFolder, 'log']);
  });

  it('waits for a fabric that answers after seconds, as on a machine that has nothing left to give', async (context) => {
    const { client, socketPath, logPath } = await startFabric(context);
    process.kill(client.pid, 'SIGSTOP');
    // Three seconds were too few.
    const continues = pause(3_500).then(() => process.kill(client.pid, 'SIGCONT'));
    const [next] = await Promise.all([connectedFabric({ socketPath, logPath }), continues]);
    assert.equal(next.pid, client.pid);
    next.close();
  });

  it('starts another when the fabric is killed, with all links', async (context) => {
    const { client, a, b } = await startLink(context);
    const killed = client.pid;
    const lost: string[] = [];
    client.onLost((reason) => lost.push(reason));
    const restored = new Promise<{ pid: number; isNew: boolean }>((settle) => client.onRestored(settle));
    process.kill(killed, 'SIGKILL');
    await Promise.all([a.connected(2), b.connected(2)]);
    const { pid, isNew } = await restored;
    assert.ok(isNew && pid !== killed && pid === client.pid);
    assert.equal(lost.length, 1);
    await waitFor(async () => Object.values((await client.stats())[0]?.connected ?? {}).every(Boolean), { what: 'both ports' });
    a.send(frame('1'));
    await b.receive(1);
  });

  it('another fabric filters as the one did that was killed under traffic', async (context) => {
    const filters = { bandwidth: [100_000], delay_ab: [5], duplicate_ba: [100], packet_loss_ab: [50], seed: [3] };
    const { client, a, b, stats } = await startLink(context, { filters });
    const traffic = setInterval(() => a.socket?.write(prefixed(frame('under way'))), 1);
    context.after(() => clearInterval(traffic));
    await b.receive(20);
    process.kill(client.pid, 'SIGKILL');
    await Promise.all([a.connected(2), b.connected(2)]);
    await waitFor(async () => (await stats()).ab.received > 100, { what: 'continued traffic' });
    clearInterval(traffic);
    b.send(frame('back'));
    assert.equal((await a.receive(2)).length, 2);
    await waitFor(async () => (await stats()).ab.queued === 0, { what: 'all to be through' });
    const { ab, ba } = await stats();
    assert.ok((ab.dropped.packet_loss ?? 0) > 20 && ab.sent > 20 && (ab.delay?.median_ms ?? 0) >= 4.9, JSON.stringify(ab));
    assert.deepEqual([ba.received, ba.sent, ba.dropped], [1, 2, {}]);
  });

  it('makes requests again that were under way when the fabric was killed', async (context) => {
    const { client, folder } = await startFabric(context);
    const [a, b] = [await streamEnd(context, `${folder}/a`), await streamEnd(context, `${folder}/b`)];
    process.kill(client.pid, 'SIGKILL');
    const links = Array.from({ length: 20 }, (_, index) => linkOf(a.port, b.port, { id: `link ${index}` }));
    const answers = await Promise.all([...links.map((link) => client.apply([link])), client.remove(['link 3'])]);
    assert.ok(answers.slice(0, 20).every((failures) => Array.isArray(failures) && failures.length === 0));
    const ids = (await client.stats()).map(({ id }) => id);
    assert.deepEqual(ids.length, 19);
    assert.ok(!ids.includes('link 3'));
  });

  it('ends its fabric also while the connection to it is lost', async (context) => {
    const { client, folder, socketPath, logPath } = await startFabric(context);
    const connections: Socket[] = [];
    const between = createServer((socket) => {
      const onwards = connect(socketPath);
      for (const one of [socket, onwards]) connections.push(one.on('error', () => undefined));
      socket.pipe(onwards).pipe(socket);
    }).listen(`${folder}/between`);
    context.after(() => between.close());
    await once(between, 'listening');
    const other = await connectedFabric({ socketPath: `${folder}/between`, logPath });
    const lost = new Promise((settle) => other.onLost(settle));
    for (const one of connections.splice(0)) one.destroy();
    await lost;
    client.close();
    await other.quit();
    assert.equal(isRunning(client.pid), false);
  });

  it('leaves no second fabric behind when another one was started at the same moment', async (context) => {
    const folder = await mkdtemp(`${tmpdir()}/fabric-test-`);
    context.after(async () => {
      killProcesses(processesNamed(folder));
      await rm(folder, { recursive: true, maxRetries: 5 });
    });
    const place = { socketPath: `${folder}/control`, logPath: `${folder}/log` };
    const pause = 'data:text/javascript,await new Promise((done) => setTimeout(done, 3000))';
    const slow = connectedFabric({ ...place, env: { NODE_OPTIONS: `--import="${pause}"` } });
    const isStarting = () => processesNamed(place.socketPath).length > 0;
    await waitFor(isStarting, { what: 'the start of the slow one' });
    const quick = await connectedFabric(place);
    const client = await slow;
    assert.equal(client.pid, quick.pid);
    quick.close();
    await client.quit();
    assert.deepEqual(processesNamed(place.socketPath), []);
  });

  it('replaces a fabric of another version', async (context) => {
    const { socketPath, logPath, client } = await startFabric(context);
    await client.quit();
    let asked = '';
    const old = createServer((socket) => {
      createInterface(socket).on('line', (line) => {
        const { id, op } = JSON.parse(line) as { id: number; op: string };
        asked += `${op} `;
        socket.write(`${JSON.stringify({ id, result: { version: protocolVersion - 1, pid: 2 ** 22 + 1 } })}\n`);
        if (op === 'quit') old.close();
      });
    }).listen(socketPath);
    await once(old, 'listening');
    const next = await connectedFabric({ socketPath, logPath });
    context.after(() => next.quit());
    assert.equal(asked, 'hello quit ');
    assert.deepEqual(await next.stats(), []);
  });

  it('says why no fabric can be started', async (context) => {
    const { folder } = await startFabric(context);
    const socketPath = `${folder}/${'x'.repeat(150)}`;
    await assert.rejects(connectedFabric({ socketPath, logPath: `${folder}/other-log` }), (error) =>
      isFault(error, 'fabric_unavailable'),
    );
  });

  it('shares one fabric between two that start it at the same time', async (context) => {
    const { folder, client } = await startFabric(context);
    const place = { socketPath: `${folder}/shared`, logPath: `${folder}/shared-log` };
    const both = await Promise.all([connectedFabric(place), connectedFabric(place)]);
    context.after(async () => {
      // The second client lets go before the first ends the fabric: a client that is still there would start it again.
      await both[1]?.close();
      await both[0]?.quit();
    });
    await waitFor(async () => both[0]?.pid === both[1]?.pid, { what: 'both to have the same fabric' });
    assert.notEqual(both[0]?.pid, client.pid);
  });
});

describe('the control socket', () => {
  it('answers invalid lines with an error and keeps running', async (context) => {
    const { socketPath, logPath, client } = await startFabric(context);
    const socket = connect(socketPath);
    const answers: { id: number; error?: string; result?: unknown }[] = [];
    createInterface(socket).on('line', (line) => answers.push(JSON.parse(line)));
    const port = { type: 'stream', path: '/nonexistent' };
    const links: unknown[] = [
      null,
      7,
      { id: '' },
      { id: 'x', a: port, b: { type: 'serial' }, filters: {}, suspend: false },
      { id: 'x', a: port, b: port, filters: { gremlins: [1] }, suspend: false },
      { id: 'x', a: port, b: port, filters: { delay: ['1); while (1);('] }, suspend: false },
      { id: 'x', a: port, b: port, filters: { bpf: ['x'] }, bpf: [[['quit()', 0, 0, 0]]], suspend: false },
      { id: 'x', a: { type: 'udp', lport: 70000, rhost: 'x', rport: 1 }, b: port, filters: {}, suspend: false },
      { id: 'x', a: { type: 'stream', path: 'x'.repeat(200) }, b: port, filters: {}, suspend: false },
      { id: 'x', a: { ...port, admit: [] }, b: port, filters: {}, suspend: false },
      { id: 'x', a: { type: 'udp', lport: 1, rhost: 'x', rport: 1, strict: 'yes' }, b: port, filters: {}, suspend: false },
    ];
    const lines = [
      '{',
      'null',
      '[]',
      '{"id":4,"op":"dance"}',
      '{"id":5,"op":"apply"}',
      '{"id":6,"op":"remove","ids":5}',
      '\u0000\ufffd',
      '',
    ];
    socket.write(`${lines.join('\n')}\n${JSON.stringify({ id: 8, op: 'apply', links })}\n{"id":9,"op":"hello"}\n{"half`);
    await waitFor(() => answers.length === 9, { what: 'nine answers' });
    assert.deepEqual(
      answers.slice(0, 7).map(({ id, error }) => [id, typeof error]),
      [0, 0, 0, 4, 5, 6, 0].map((id) => [id, 'string']),
    );
    assert.equal((answers[7]?.result as unknown[] | undefined)?.length, links.length);
    assert.deepEqual(answers[8], { id: 9, result: { version: protocolVersion, pid: client.pid } });
    socket.destroy();
    assert.deepEqual(await client.stats(), []);
    assert.doesNotMatch(await readFile(logPath, 'utf8'), /error/i);
  });

  it('ends at SIGTERM, and leaves no socket', async (context) => {
    const { socketPath, folder } = await startFabric(context);
    const place = { socketPath: `${folder}/other`, logPath: `${folder}/log` };
    const client = await connectedFabric(place);
    client.close();
    process.kill(client.pid, 'SIGTERM');
    await waitFor(() => !isRunning(client.pid), { what: 'its end' });
    assert.deepEqual(await readdir(folder), [...codeFolder, 'control', 'log']);
    assert.ok(socketPath.endsWith('control'));
  });
});
