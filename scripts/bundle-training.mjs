/**
 * Runs a new bundle once, so that V8's code of what a server and its clients do first is beside it (`bundle-loader.cjs`): a server of its
 * own, in a folder that is removed, with requests of each common kind, and the commands that start most often.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Limit for a process that hangs. Ms. */
const limitMs = 60_000;
const commands = [['--help'], ['lab', '--help'], ['completion', 'bash']];

/** `program`: the bundle's entry. @throws when the server does not start */
export async function train(program) {
  const folder = await mkdtemp(path.join(tmpdir(), 'patchbay-bundle-'));
  try {
    const config = path.join(folder, 'server.conf');
    await writeFile(config, '');
    const server = start([
      program,
      '--port',
      '0',
      '--data-dir',
      folder,
      '--config',
      config,
      '--stop-nodes',
      '--log-level',
      'silent',
    ]);
    try {
      const url = await addressOf(server);
      await useServer(url);
      await Promise.all(commands.map((command) => once(start([program, ...command]), 'exit')));
      await useLab(program, url, folder);
    } finally {
      server.kill('SIGTERM');
      if (server.exitCode === null && server.signalCode === null) await once(server, 'exit');
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function start(args) {
  return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'], timeout: limitMs, killSignal: 'SIGKILL' });
}

async function addressOf(server) {
  let printed = '';
  for await (const text of server.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    printed += text;
    const url = /listening on (http:\S+)/.exec(printed)?.[1];
    if (url) {
      server.stdout.resume();
      return url;
    }
  }
  throw new Error('its server did not start');
}

/** Asks what a client asks first. A request that this machine refuses, as for a missing program, is code as well. */
async function useServer(url) {
  const ask = async (method, at, body) => {
    const answer = await fetch(url + at, { method, ...(body && { body: JSON.stringify(body) }) });
    const text = await answer.text();
    return answer.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text;
  };
  const page = await ask('GET', '/');
  for (const [, file] of String(page).matchAll(/(?:src|href)="(\/[^"]+)"/g)) await ask('GET', file);
  for (const at of ['version', 'computes', 'templates', 'symbols', 'appliances', 'projects', 'settings', 'statistics'])
    await ask('GET', `/v2/${at}`);
  const { project_id } = await ask('POST', '/v2/projects', { name: 'first' });
  const project = `/v2/projects/${project_id}`;
  const feed = new WebSocket(`${url.replace('http', 'ws')}${project}/notifications/ws`);
  await once(feed, 'open');
  const nodes = [];
  for (const node_type of ['vpcs', 'vpcs', 'qemu', 'ethernet_switch'])
    nodes.push(await ask('POST', `${project}/nodes`, { name: node_type, node_type, compute_id: 'local', properties: {} }));
  const ends = nodes.slice(0, 2).map(({ node_id }) => ({ node_id, adapter_number: 0, port_number: 0 }));
  const link = await ask('POST', `${project}/links`, { nodes: ends });
  const node = `${project}/nodes/${nodes[0].node_id}`;
  await ask('PUT', node, { x: 10, y: 10 });
  await ask('PUT', `${project}/links/${link.link_id}`, { filters: { delay: [10, 2] } });
  await ask('POST', `${project}/drawings`, { svg: '<svg width="9" height="9"/>', x: 1, y: 1, z: 1 });
  for (const what of ['nodes', 'links', 'drawings', 'snapshots']) await ask('GET', `${project}/${what}`);
  await ask('POST', `${node}/start`, {});
  await ask('POST', `${node}/stop`, {});
  await ask('POST', `${project}/snapshots`, { name: 'one' });
  const copy = await ask('POST', `${project}/duplicate`, { name: 'second' });
  await ask('DELETE', `/v2/projects/${copy.project_id}`);
  await ask('DELETE', `${project}/links/${link.link_id}`);
  await ask('DELETE', node);
  feed.close();
  await ask('GET', '/metrics');
  const archive = await fetch(`${url}${project}/export`).then((answer) => answer.bytes());
  await fetch(`${url}/v2/projects/${crypto.randomUUID()}/import?name=third`, { method: 'POST', body: archive }).then((answer) =>
    answer.text(),
  );
  // Itself, as a compute of another host.
  const { hostname: host, port } = new URL(url);
  const other = await ask('POST', '/v2/computes', { protocol: 'http', host, port: Number(port), name: 'other' });
  await ask('DELETE', `/v2/computes/${other.compute_id}`);
  await ask('POST', `${project}/close`, {});
  await ask('POST', `${project}/open`, {});
  await ask('DELETE', project);
}

/** A lab file of two PCs, applied and removed by commands. */
async function useLab(program, url, folder) {
  const file = path.join(folder, 'first.yaml');
  await writeFile(
    file,
    'name: first\ndefaults: {kind: vpcs}\nnodes:\n  PC1: {}\n  PC2: {}\nlinks:\n  - {ends: [PC1, PC2], filters: {delay: 5ms}}\n',
  );
  for (const line of [['apply', file], ['list'], ['destroy', file, '--yes']])
    await once(start([program, 'lab', ...line, '--url', url]), 'exit');
}
