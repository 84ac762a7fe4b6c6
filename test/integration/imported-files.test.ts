/** Labs of other programs that name files: imported into another folder, planned and applied from there. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { serverProgram } from '../support/server.ts';
import { type NodeBody, withServer } from '../support/with-server.ts';

const { server, client } = await withServer();
const folder = await mkdtemp(join(tmpdir(), 'pb-imported-'));
after(() => rm(folder, { recursive: true, force: true }));

const limitMs = 60_000;
const patchbay = (cwd: string, ...args: string[]) =>
  promisify(execFile)(process.execPath, [serverProgram, 'lab', ...args], {
    cwd,
    timeout: limitMs,
    env: { ...process.env, NO_COLOR: '1', PATCHBAY_URL: server.url },
  });

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

const labs = {
  containerlab: `topology:
  nodes:
    r1: {kind: linux, image: absent/router, binds: ["./conf/__clabNodeName__.conf:/etc/frr/frr.conf", "daemons.txt:/etc/frr/daemons"]}
    i1: {kind: cisco_iol, image: absent/iol, startup-config: conf/../i1.cfg}
    x1: {kind: cisco_xrv9k, startup-config: "conf/__clabNodeName__.conf"}
    y1: {kind: cisco_xrv9k, startup-config: "https://example.net/y1.cfg"}
    z1: {kind: cisco_iol, image: absent/iol, startup-config: ../z1.cfg}
`,
  netlab: `%YAML 1.1
---
provider: clab
nodes:
  r1: {device: frr, box: absent/router, clab: {kind: linux, binds: [{source: node_files/r1/daemons, target: /etc/frr/daemons}]}, interfaces: []}
`,
};
const files = {
  containerlab: { 'conf/r1.conf': 'of r1', 'daemons.txt': 'bgpd=yes', 'i1.cfg': 'of i1', 'conf/x1.conf': 'of x1' },
  netlab: { 'node_files/r1/daemons': 'ospfd=yes' },
};
const expected: Record<keyof typeof labs, readonly (readonly [string, string, string])[]> = {
  containerlab: [
    ['r1', 'etc/frr/frr.conf', 'of r1'],
    ['r1', 'etc/frr/daemons', 'bgpd=yes'],
    ['i1', 'startup-config.cfg', 'of i1'],
    ['x1', 'config/iosxr_config.txt', 'of x1'],
  ],
  netlab: [['r1', 'etc/frr/daemons', 'ospfd=yes']],
};

for (const program of ['containerlab', 'netlab'] as const)
  for (const way of ['absolute', 'relative', 'beside'] as const)
    test(`the files of a lab of ${program} are where its lab file names them: ${way}`, async () => {
      const name = `${program}-${way}`;
      await write({ [`${name}/from/lab.yml`]: `${labs[program]}name: ${name}\n`, [`${name}/z1.cfg`]: 'secret' });
      await write(Object.fromEntries(Object.entries(files[program]).map(([path, text]) => [`${name}/from/${path}`, text])));
      const [from, to] = [join(folder, name, 'from'), way === 'beside' ? join(folder, name, 'from') : join(folder, name, 'new/to')];
      const cwd = way === 'absolute' ? '/' : join(folder, name);
      const shown = (path: string) => (way === 'absolute' ? path : relative(cwd, path));
      const { stderr } = await patchbay(cwd, 'import', shown(join(from, 'lab.yml')), '-o', shown(join(to, 'lab.yaml')));
      if (program === 'containerlab') assert.match(stderr, /y1 .*startup-config.*z1 .*startup-config/s);
      assert.doesNotMatch(stderr, /\(files\)/);
      // The lab is what its own folder holds: that of the import may go.
      if (way !== 'beside') await rm(from, { recursive: true });
      // The exit code 2 says that there is something to do.
      await assert.rejects(patchbay(to, 'plan'), ({ code, stdout }: { code: number; stdout: string }) => {
        assert.match(stdout, /\+ node r1/);
        return code === 2;
      });
      await patchbay(cwd, 'apply', shown(join(to, 'lab.yaml')));
      const projects = await client.get<{ name: string; project_id: string }[]>('/v2/projects');
      const path = `/v2/projects/${projects.find((one) => one.name === name)?.project_id}/nodes`;
      const nodes = await client.get<NodeBody[]>(path);
      for (const [node, file, text] of expected[program]) {
        const id = nodes.find((one) => one.name === node)?.node_id;
        assert.equal((await client.send(`GET ${path}/${id}/files/${file}`)).text(), text, `${node} ${file}`);
      }
      // An export holds texts, and needs no file.
      await patchbay(cwd, 'export', name, '-o', shown(join(folder, name, 'exported.yaml')));
      assert.doesNotMatch(await readFile(join(folder, name, 'exported.yaml'), 'utf8'), /\bfile:/);
      await patchbay(cwd, 'destroy', name, '--yes');
    });

test('a file that is no text is refused, with its place, and not changed', async () => {
  await write({ 'latin/lab.yaml': 'nodes:\n  A: {kind: vpcs, config: {file: a.cfg}}\n' });
  await writeFile(join(folder, 'latin/a.cfg'), Buffer.from('banner gr\xfc\xdfe\n', 'latin1'));
  await assert.rejects(patchbay(join(folder, 'latin'), 'plan'), /lab\.yaml:2:\d+: a\.cfg is not a text in UTF-8/);
});
