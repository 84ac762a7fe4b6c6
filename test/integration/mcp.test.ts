/** `patchbay mcp`: tools for agents, with the client of the official SDK over standard input and output, against a server with a login. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { cliCommands } from '../../cli/commands.ts';
import { changePlans } from '../../cli/mcp/plan-changes.ts';
import { filesOfCall, toolName, toolSchema } from '../../cli/mcp/tool-input.ts';
import { type RunningServer, serverProgram, startServer } from '../support/server.ts';
import { waitFor } from '../support/wait-for.ts';

const folder = await mkdtemp(join(tmpdir(), 'pb-mcp-'));
after(() => rm(folder, { recursive: true }));
const labs = join(folder, 'labs');
await mkdir(labs);
await writeFile(join(folder, 'secret.yaml'), 'nodes: {secret: {kind: vpcs}}\n');
await writeFile(
  join(labs, 'lab.yaml'),
  `name: pair
defaults: {kind: vpcs}
nodes:
  PC1: {config: {file: pc1.txt}}
  PC2: {config: "ip 10.0.0.2/24\\n"}
links: [[PC1, PC2]]
`,
);
await writeFile(join(labs, 'pc1.txt'), 'ip 10.0.0.1/24\n');

const password = 's3cret';
const clients: Client[] = [];
let server: RunningServer;
let reader: Agent;
let agent: Agent;

interface Agent {
  readonly client: Client;
  /** The text of a tool's result; throws for an error. */
  call(name: string, args?: Record<string, unknown>): Promise<string>;
  /** The text of a result that is an error. */
  fail(name: string, args?: Record<string, unknown>): Promise<string>;
  /** Previews and confirms. */
  change(name: string, args?: Record<string, unknown>): Promise<{ preview: string; text: string; id: string }>;
}

async function connect(...options: string[]): Promise<Agent> {
  const client = new Client({ name: 'test', version: '1' });
  const env = {
    ...(process.env as Record<string, string>),
    PATCHBAY_URL: server.url,
    PATCHBAY_USER: 'ada',
    PATCHBAY_PASSWORD: password,
  };
  clients.push(client);
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [serverProgram, 'mcp', ...options], cwd: labs, env }),
  );
  const ask = async (name: string, args: Record<string, unknown> = {}): Promise<{ text: string; isError: boolean }> => {
    const { content, isError } = await client.callTool({ name, arguments: args }, { timeout: 120_000 });
    const [part] = content as { text: string }[];
    return { text: part?.text ?? '', isError: isError === true };
  };
  const call: Agent['call'] = async (name, args) => {
    const { text, isError } = await ask(name, args);
    assert.ok(!isError, text);
    return text;
  };
  return {
    client,
    call,
    fail: async (name, args) => {
      const { text, isError } = await ask(name, args);
      assert.ok(isError, text);
      return text;
    },
    change: async (name, args = {}) => {
      const preview = await call(name, args);
      const text = await call(name, { ...args, confirm: tokenOf(preview) });
      return { preview, text, id: /Change (\S+)\./.exec(text)?.[1] ?? '' };
    },
  };
}

const tokenOf = (preview: string): string => /"confirm": "([0-9a-f]+)"/.exec(preview)?.[1] ?? '';

before(async () => {
  server = await startServer({ config: { Server: { auth: true, user: 'ada', password } } });
  [reader, agent] = await Promise.all([connect(), connect('--allow-changes')]);
});
after(async () => {
  for (const client of clients) await client.close();
  await server?.stop();
});

interface Named {
  readonly name: string;
  readonly project_id: string;
}

async function get<T>(path: string): Promise<T> {
  const headers = { authorization: `Basic ${Buffer.from(`ada:${password}`).toString('base64')}` };
  const answer = await fetch(`${server.url}${path}`, { headers });
  assert.equal(answer.status, 200);
  return (await answer.json()) as T;
}
const projects = () => get<Named[]>('/v2/projects');

describe('patchbay mcp', () => {
  it('has a plan for each command that changes something, and a schema for each tool', () => {
    const usable = cliCommands.filter(({ agent }) => agent);
    const changing = usable.filter(({ agent }) => agent?.effect === 'changes').map(({ name }) => name);
    assert.deepEqual(Object.keys(changePlans).sort(), changing.sort());
    const impair = usable.find(({ name }) => name === 'lab impair');
    assert.ok(impair);
    assert.deepEqual(toolSchema(impair).required, ['link']);
    assert.deepEqual(Object.keys(toolSchema(impair).properties), ['link', 'filters', 'add', 'suspend', 'resume', 'project']);
  });

  it('knows which files a call may read', () => {
    const filesOf = (name: string, input: Record<string, string>) => {
      const command = cliCommands.find((one) => one.name === name);
      assert.ok(command);
      return filesOfCall(command, input);
    };
    assert.deepEqual(filesOf('lab impair', { link: 'PC1-PC2' }), ['lab.yaml']);
    assert.deepEqual(filesOf('lab impair', { link: 'PC1-PC2', project: 'ring.yaml' }), ['ring.yaml']);
    assert.deepEqual(filesOf('lab graph', {}), ['lab.yaml']);
    assert.deepEqual(filesOf('lab apply', { project: 'ring' }), ['ring', 'lab.yaml']);
    assert.deepEqual(filesOf('lab apply', { lab: 'nodes: {}' }), []);
  });

  it('only reads unless changes are allowed, and only files of its folder', async () => {
    const { tools } = await reader.client.listTools();
    const reading = cliCommands.filter((command) => command.agent?.effect === 'reads').map(toolName);
    assert.deepEqual(tools.map(({ name }) => name).sort(), reading.sort());
    assert.ok(tools.every(({ annotations }) => annotations?.readOnlyHint === true));
    assert.match(await reader.call('lab_plan'), /\+ node PC1\n[\s\S]*4 to create/);
    assert.match(await reader.call('lab_plan', { lab: 'nodes: {A: {kind: vpcs}}\n' }), /\+ node A/);
    assert.match(await reader.fail('lab_plan', { file: '../secret.yaml' }), /outside of .*labs/);
    assert.match(await reader.fail('lab_plan', { file: join(folder, 'secret.yaml') }), /outside of .*labs/);
    assert.match(await reader.fail('lab_plan', { lab: 'include: [../secret.yaml]\n' }), /outside of the folder/);
    assert.match(await reader.fail('lab_list', { project: 'none' }), /there is no project "none"/);
    // A project may be named by its lab file.
    for (const tool of ['lab_start', 'lab_apply'])
      assert.match(await agent.fail(tool, { project: '../secret.yaml' }), /outside of .*labs/);
    await assert.rejects(
      reader.client.readResource({ uri: 'patchbay://projects/..%2Fsecret.yaml/topology' }),
      /there is no project "\.\.\/secret\.yaml"|not found/i,
    );
    for (const wrong of [{ file: 7 }, { url: 'http://127.0.0.1:1' }, { file: 'x'.repeat(5000) }])
      assert.match(await reader.fail('lab_plan', wrong).catch(String), /[Ii]nvalid|additional/);
    assert.match(await reader.fail('lab_apply', {}).catch(String), /not found/);
    assert.deepEqual(await projects(), []);
  });

  it('previews, makes and undoes changes as one step each', async () => {
    const preview = await agent.call('lab_apply');
    assert.match(preview, /4 to create[\s\S]*Nothing is changed yet/);
    assert.deepEqual(await projects(), []);
    const confirm = tokenOf(preview);
    assert.match(await agent.fail('lab_apply', { lab: 'nodes: {A: {kind: vpcs}}\n', confirm }), /token is of another call/);
    assert.match(await agent.call('lab_apply', { confirm }), /pair is as the file says: http/);
    assert.match(await agent.fail('lab_apply', { confirm }), /used or old: nothing was changed/);
    const [project] = await projects();
    assert.ok(project);
    const links = () => get<{ filters: object }[]>(`/v2/projects/${project.project_id}/links`);

    const impaired = await agent.change('lab_impair', { link: 'PC1-PC2', filters: ['delay=20ms', 'loss=1%'] });
    assert.match(impaired.preview, /now: .*no impairments\nthen: .*delay=20 packet_loss=1/);
    assert.deepEqual((await links())[0]?.filters, { delay: [20], packet_loss: [1] });
    assert.match(await agent.call('lab_diff'), /link PC1:Ethernet0 - PC2:Ethernet0 differs/);

    // A change that another client makes between preview and confirmation.
    const stale = await agent.call('lab_impair', { link: 'PC1-PC2' });
    await agent.change('lab_impair', { link: 'PC1-PC2', filters: ['delay=5ms'] });
    assert.match(await agent.fail('lab_impair', { link: 'PC1-PC2', confirm: tokenOf(stale) }), /state has changed since/);
    const undoable = await agent.fail('undo', { change: 'nothing' });
    const ids = Array.from(undoable.matchAll(/(mcp-\w+) \(lab_impair\)/g), ([, id]) => id ?? '');
    assert.equal(ids.length, 2);
    // The earlier one is no longer the last step of the project.
    const early = await agent.call('undo', { change: ids[1] });
    assert.match(await agent.fail('undo', { change: ids[1], confirm: tokenOf(early) }), /cannot be undone/);
    for (const change of ids) await agent.change('undo', { change });
    assert.deepEqual((await links())[0]?.filters, {});

    // A file that a node did not have goes again.
    const withFile = `name: pair\ndefaults: {kind: vpcs}\nnodes:\n  PC1: {config: {file: pc1.txt}, files: {notes/new.txt: "new"}}\n  PC2: {config: "ip 10.0.0.9/24\\n"}\nlinks: [[PC1, PC2]]\n`;
    const filed = await agent.change('lab_apply', { lab: withFile });
    assert.match(await agent.call('lab_plan', { lab: withFile }), /Nothing to do/);
    await agent.change('undo', { change: filed.id });
    assert.match(await agent.call('lab_plan', { lab: withFile }), /notes\/new\.txt[\s\S]*2 to change/);
    const nodes = await get<{ name: string; node_id: string }[]>(`/v2/projects/${project.project_id}/nodes`);
    const pc1 = nodes.find(({ name }) => name === 'PC1')?.node_id ?? '';
    const nodeFolder = join(server.dataDir, 'projects', project.project_id, 'project-files/vpcs', pc1);
    assert.deepEqual(await readdir(join(nodeFolder, 'notes')), []);
    assert.match(await agent.call('lab_plan'), /Nothing to do/);

    const larger = 'name: pair\ndefaults: {kind: vpcs}\nnodes:\n  PC[2-5]: {}\n';
    const applied = await agent.change('lab_apply', { lab: larger });
    assert.match(applied.preview, /- node PC1\n[\s\S]*It is one step/);
    const { entries } = await get<{ entries: { by: string; step: number }[] }>(`/v2/projects/${project.project_id}/history`);
    assert.equal(new Set(entries.filter(({ by }) => by === applied.id).map(({ step }) => step)).size, 1);
    await agent.change('undo', { change: applied.id });
    assert.match(await agent.call('lab_plan'), /Nothing to do/);
  });

  it('deletes a project that it made, once all later changes of it are undone', async () => {
    const lab = 'name: own\nnodes: {A: {kind: vpcs}, B: {kind: vpcs}}\nlinks: [[A, B]]\n';
    const created = await agent.change('lab_apply', { lab });
    const later = await agent.change('lab_impair', { link: 'A-B', project: 'own', filters: ['delay=5ms'] });
    const early = await agent.call('undo', { change: created.id });
    const refused = await agent.fail('undo', { change: created.id, confirm: tokenOf(early) });
    assert.match(refused, new RegExp(`cannot be undone: ${later.id} changed the project`));
    for (const { id } of [later, created]) await agent.change('undo', { change: id });
    assert.deepEqual(
      (await projects()).map(({ name }) => name),
      ['pair'],
    );
  });

  it('what a cancelled call has changed can be undone', async () => {
    const lab = 'name: half\nnodes:\n  switch-[1-2000]: {kind: ethernet_switch}\n';
    const confirm = tokenOf(await agent.call('lab_apply', { lab }));
    const cancelling = new AbortController();
    const cancelled = agent.client.callTool({ name: 'lab_apply', arguments: { lab, confirm } }, { signal: cancelling.signal });
    cancelled.catch(() => undefined);
    await waitFor(async () => (await projects()).some(({ name }) => name === 'half'), { what: 'the project' });
    cancelling.abort();
    await assert.rejects(cancelled);
    const known = async () => /(mcp-\w+) \(lab_apply\)/.exec(await agent.fail('undo', { change: 'nothing' }))?.[1];
    const change = await waitFor(known, { what: 'the change' });
    await agent.change('undo', { change });
    assert.ok((await projects()).every(({ name }) => name !== 'half'));
  });

  it('drives nodes and captures links', async () => {
    assert.match(await agent.fail('lab_exec', { node: 'PC1', command: 'show ip' }), /PC1 is stopped. Start it first/);
    const started = await agent.change('lab_start');
    assert.match(started.preview, /PC1 \(stopped\), PC2 \(stopped\)/);
    const exec = await agent.change('lab_exec', { node: 'PC1', command: 'show ip' });
    assert.match(exec.preview, /cannot be undone/);
    assert.match(exec.text, /IP\/MASK/i);
    assert.match(await agent.fail('lab_exec', { node: 'PC1', command: 'a\nb' }), /one line/);
    const capture = await agent.change('lab_capture', { link: 'PC1-PC2', seconds: 1 });
    assert.match(capture.text, /^\d+ packets in \S+\.pcap/);
    const [project] = await projects();
    const files = () => get<unknown[]>(`/v2/projects/${project?.project_id}/captures`);
    assert.equal((await files()).length, 1);
    await agent.change('undo', { change: capture.id });
    assert.deepEqual(await files(), []);
    await agent.change('undo', { change: started.id });
    assert.match(await agent.call('lab_list', { project: 'pair' }), /PC1 +vpcs +stopped/);
  });

  it('reads documents, labs and topologies, bounded', async () => {
    const { resources } = await reader.client.listResources();
    const [project] = await projects();
    const uris = resources.map(({ uri }) => uri);
    for (const uri of ['patchbay://docs/lab-file.md', `patchbay://projects/${project?.project_id}/topology`])
      assert.ok(uris.includes(uri), uris.join(' '));
    const read = async (uri: string) =>
      String((await reader.client.readResource({ uri })).contents.map((part) => ('text' in part ? part.text : ''))[0]);
    assert.match(await read('patchbay://docs/lab-file.md'), /^# Lab files/);
    assert.match(await read(`patchbay://projects/${project?.project_id}/lab.yaml`), /name: pair/);
    assert.match(await read(`patchbay://projects/${project?.project_id}/topology`), /^graph LR\n {2}n0\["PC\d"\]/);
    const complete = async (uri: string, name: string, value: string) =>
      (await reader.client.complete({ ref: { type: 'ref/resource', uri }, argument: { name, value } })).completion.values;
    assert.deepEqual(await complete('patchbay://docs/{name}', 'name', 'verd'), ['verdicts.md']);
    assert.deepEqual(await complete('patchbay://projects/{project}/lab.yaml', 'project', 'pa'), ['pair']);
    for (const uri of ['patchbay://docs/..%2Fpackage.json', 'patchbay://projects/none/lab.yaml', 'patchbay://docs/adr'])
      await assert.rejects(reader.client.readResource({ uri }), /there is no|not found/i);
    const many = await reader.call('lab_plan', { lab: 'nodes:\n  switch-of-floor-[1-3000]: {kind: ethernet_switch}\n' });
    assert.ok(many.includes('more characters are left out'), many.slice(-200));
    assert.ok(many.length < 51_000, String(many.length));
  });
});
