/** Arrows between the folders point one way (docs/architecture.md), and kinds stay in their folders. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { implementedTypes } from '../../src/emulators/kinds.ts';
import { importsOf, pageFiles, root, sourceFiles, web } from './sources.ts';

/** Layer to its permitted imports; `folder/file.ts` permits that file alone. */
const arrows: Record<string, readonly string[]> = {
  lib: [],
  schema: [],
  api: ['schema', 'lib'],
  process: ['lib'],
  fabric: ['schema', 'process', 'lib', 'api'],
  emulators: ['api', 'fabric', 'process', 'schema', 'lib'],
  compute: ['api', 'schema', 'emulators', 'fabric', 'process', 'lib'],
  controller: [
    'api',
    'schema',
    'lib',
    'emulators/kinds.ts',
    'emulators/kind.ts',
    'compute/api.ts',
    'process/tool.ts',
    'process/unprivileged.ts',
  ],
  http: ['api', 'lib'],
  people: ['api', 'schema', 'lib'],
  slice: ['process', 'schema', 'lib'],
  // A client of the HTTP API: the command line, the server and the page use the same code.
  lab: ['api', 'schema', 'lib'],
  // Accounts of a server that does not run are changed in its data folder.
  cli: ['lab', 'api', 'schema', 'lib', 'people', 'settings.ts', 'version.ts'],
  doctor: ['emulators', 'fabric', 'process', 'schema', 'lib', 'settings.ts', 'version.ts'],
};
/** Files that other layers may import types of, and nothing that runs. */
const typesOnly = ['compute/api.ts'];
/** The files at the root of `src`, which put the program together: `../` is a file outside `src` that they start or read by its path. */
const rootArrows: Record<string, readonly string[]> = {
  'main.ts': [
    'cli',
    'command-line.ts',
    'configuration-page.ts',
    'doctor',
    'print-openapi.ts',
    'serve.ts',
    'settings.ts',
    'version.ts',
    'lab-images.ts',
  ],
  'serve.ts': [
    ...['api', 'lib', 'schema', 'compute', 'controller', 'http', 'doctor', 'people', 'slice'],
    ...['command-line.ts', 'declare-routes.ts', 'describe-access.ts', 'settings.ts', 'version.ts'],
    ...['../.cache/page', '../appliances'],
  ],
  'print-openapi.ts': ['api', 'compute', 'controller', 'http', 'people', 'declare-routes.ts', 'settings.ts', 'version.ts'],
  'declare-routes.ts': ['api', 'schema', 'compute', 'controller', 'lab', 'people', 'demo-lab.ts', 'lab-images.ts'],
  'lab-images.ts': ['api', 'schema', '../demo/containers/build.ts'],
  'demo-lab.ts': ['api', 'schema', '../demo/lab.ts'],
  'configuration-page.ts': ['command-line.ts', 'schema'],
  'describe-access.ts': ['schema'],
  'command-line.ts': ['schema'],
  'settings.ts': ['schema'],
  'version.ts': ['../package.json'],
};
/** Modules of the fabric that others may use: its client and its protocol, never the data plane itself. */
const fabricDoors = ['fabric/client.ts', 'fabric/protocol.ts', 'fabric/bpf-compile.ts', 'fabric/redirection.ts'];
/** Libraries that are known in one folder only. */
const libraryHomes: Record<string, readonly string[]> = {
  fastify: ['http', 'serve.ts'],
  '@fastify/websocket': ['http'],
  ini: ['settings.ts'],
  bcryptjs: ['people/bcrypt-thread.ts'],
  jose: ['people/access-tokens.ts'],
  'prom-client': ['http'],
  yaml: ['lab'],
  saxes: ['lab'],
  '@modelcontextprotocol/server': ['cli/mcp/serve-mcp.ts'],
  koffi: ['fabric/ports/native.ts'],
};

/** Files of the server that the page imports at run time: they import nothing, not even a module of Node. */
const sharedWithPage = [
  'src/schema/appliance.ts',
  'src/schema/image-hosts.ts',
  'src/schema/pcap.ts',
  'src/schema/presence-limits.ts',
  'src/schema/problem-marks.ts',
  'src/lib/retry.ts',
  'src/lib/telnet.ts',
];

/** Files outside the kinds' folders that name kinds: the lists, and names that coincide with a kind's. */
const kindNamers: Readonly<Record<string, string>> = {
  'emulators/kinds.ts': 'list of facts; the compiler compares it with the types',
  'emulators/drivers.ts': 'list of drivers; the compiler compares it with the types',
  'schema/node.ts': 'list of the types on the wire',
  'schema/settings.ts': 'the name of a program',
  'schema/project-1x.ts': 'a key of servers in files of GNS3 1.x',
  'schema/kept-settings.ts': "engines of GNS3's virtual machine: settings that clients keep here",
  'emulators/port-processes/interfaces.ts': 'prefixes that other programs give to interfaces of this host',
  'lab/import/kinds.ts': 'translates the kinds of other programs',
  'doctor/confinement.ts': 'tries the sandbox of QEMU',
  'doctor/doctor.ts': 'tries KVM by the probe guest of QEMU',
  'controller/model/upgrades/nodes-1x.ts': 'translates the nodes of files of 1.x',
  'controller/routes/v3/computes.ts': 'paths of GNS3 3 that name a kind',
  'controller/routes/v3/images.ts': 'types of images of GNS3 3, which are named by their folders',
  'controller/routes/v3/links.ts': 'kinds whose ports GNS3 3 shows as interfaces',
  'controller/live/upgrade-files.ts': 'moves files from the locations of old projects',
  'controller/model/upgrades/topology-upgrades.ts': 'translates properties in files of 2.0 and 2.1',
};
const kindFolders = Object.values(kindFolderOf());

/** Type to folder, `emulators/<kind>/`. */
function kindFolderOf(): Readonly<Record<string, string>> {
  return Object.fromEntries(implementedTypes.map((type) => [type, `emulators/${type.replaceAll('_', '-')}/`]));
}

/** Types of nodes that a source names: as a string, as a key, as a member, or by importing from their folders. */
function kindNames(source: string): string[] {
  const types = implementedTypes.join('|');
  const token = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g;
  const names: string[] = [];
  const code = source.replace(token, (text) => {
    if (text.startsWith('/')) return ' ';
    const inside = text.slice(1, -1);
    const folder = Object.entries(kindFolderOf()).find(([, place]) => inside.startsWith('.') && inside.includes(place));
    if ((implementedTypes as readonly string[]).includes(inside)) names.push(inside);
    else if (folder) names.push(folder[0]);
    return "''";
  });
  const asName = new RegExp(`(?<![\\w$#])(${types})\\??:|\\.(${types})(?![\\w$])|[{,]\\s*(${types})\\s*(?=[,}=])`, 'g');
  return [...names, ...[...code.matchAll(asName)].map((found) => found[1] ?? found[2] ?? found[3] ?? '')];
}

const layerOf = (file: string): string => file.split('/', 1)[0] ?? '';
/** Name below `src`; `lab/…` and `cli/…` are beside it. */
const nameOf = (path: string) => path.replace(/^src\//, '');
const pathOf = (name: string) => join(root, /^(?:lab|cli)\//.test(name) ? name : `src/${name}`);
const files = (await sourceFiles()).map(nameOf);
const imports = (await Promise.all((await sourceFiles()).map((file) => importsOf(file))))
  .flat()
  .map((one) => ({ ...one, from: nameOf(one.from), to: nameOf(one.to) }));

describe('architecture', () => {
  it('has no arrow that is not declared', () => {
    const wrong = imports.filter(({ from, to }) => {
      const allowed = arrows[layerOf(from)];
      if (allowed === undefined || to.startsWith('node:') || !to.endsWith('.ts')) return false;
      return layerOf(to) !== layerOf(from) && !allowed.includes(layerOf(to)) && !allowed.includes(to);
    });
    assert.deepEqual(wrong, []);
  });

  it('imports only types of the files that are types for others', () => {
    const wrong = imports.filter(({ from, to, isType }) => typesOnly.includes(to) && layerOf(from) !== layerOf(to) && !isType);
    assert.deepEqual(wrong, []);
  });

  it('has no undeclared arrow of a file at the root, and no unused declaration', async () => {
    const found: Record<string, string[]> = {};
    for (const file of files.filter((name) => !name.includes('/'))) {
      const text = await readFile(pathOf(file), 'utf8');
      const outside = Array.from(text.matchAll(/'(\.\.\/(?!(?:lab|cli)\/)[^']+)'/g), ([, path = '']) => path);
      const inside = imports.filter(({ from, to }) => from === file && to.endsWith('.ts')).map(({ to }) => layerOf(to));
      found[file] = [...new Set([...inside, ...outside])].toSorted();
    }
    const declared = Object.entries(rootArrows).map(([file, targets]) => [file, targets.toSorted()]);
    assert.deepEqual(found, Object.fromEntries(declared));
  });

  it('has no folder without declared arrows', () => {
    const folders = new Set(files.filter((file) => file.includes('/')).map(layerOf));
    assert.deepEqual(
      [...folders].filter((folder) => !(folder in arrows)),
      [],
    );
  });

  it('enters the fabric through its doors only', () => {
    const wrong = imports.filter(
      ({ from, to }) => layerOf(to) === 'fabric' && layerOf(from) !== 'fabric' && !fabricDoors.includes(to),
    );
    assert.deepEqual(wrong, []);
  });

  it('keeps each library in its home', () => {
    const wrong = imports.filter(
      ({ from, to }) => to in libraryHomes && ![from, layerOf(from)].some((place) => libraryHomes[to]?.includes(place)),
    );
    assert.deepEqual(wrong, []);
  });

  it('names no kind of node outside its folder and the lists', async () => {
    const wrong: string[] = [];
    for (const file of files) {
      if (kindFolders.some((folder) => file.startsWith(folder)) || file in kindNamers) continue;
      wrong.push(...kindNames(await readFile(pathOf(file), 'utf8')).map((name) => `${file}: ${name}`));
    }
    assert.deepEqual(wrong, []);
  });

  it('exempts no file that names no kind', async () => {
    const idle: string[] = [];
    for (const file of Object.keys(kindNamers)) {
      if (kindNames(await readFile(pathOf(file), 'utf8')).length === 0) idle.push(file);
    }
    assert.deepEqual(idle, []);
  });

  it('finds the name of a kind however it is written', () => {
    const sources = [
      "new Set(['docker', 'x'])",
      'if (type === "qemu") go()',
      '`vpcs`',
      'const other = { iou: [], docker: 1 }',
      'appliance.qemu',
      "import { x } from '../emulators/nat/driver.ts'",
      "const { docker, y = '//' } = appliance",
    ];
    assert.deepEqual(sources.map(kindNames), [['docker'], ['qemu'], ['vpcs'], ['iou', 'docker'], ['qemu'], ['nat'], ['docker']]);
    assert.deepEqual(kindNames("// 'docker'\n/** iou: */ const text = 'a cloud: docker';"), []);
  });

  it('lets the page know of the server types of the schema, and files without imports', async () => {
    const wrong: string[] = [];
    for (const file of await pageFiles()) {
      const text = await readFile(join(web, file), 'utf8');
      for (const [, what = '', to = ''] of text.matchAll(/^(import|export)\s[^;]*?from '(\.[^']+)'/gm)) {
        const target = relative(root, resolve(web, dirname(file), to));
        const isType = new RegExp(`^${what} type [^;]*?from '${to.replaceAll('.', '\\.')}'`, 'm').test(text);
        const isAllowed = (target.startsWith('src/schema/') && isType) || sharedWithPage.includes(target);
        if (!target.startsWith('web/') && !isAllowed) wrong.push(`${file}: ${to}`);
      }
    }
    assert.deepEqual(wrong, []);
  });

  it('shares files with the page that import nothing', () => {
    assert.deepEqual(
      imports.filter(({ from }) => sharedWithPage.includes(`src/${from}`)),
      [],
    );
  });
});
