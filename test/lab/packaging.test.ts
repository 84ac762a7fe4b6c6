/** The GitHub Action and the GitLab template: what they run exists, and a pipeline gets the exit code and the reports. */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { access, chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { testCommand } from '../../cli/test/test-command.ts';

const packaging = resolve(import.meta.dirname, '../../packaging');
const folder = await mkdtemp(join(tmpdir(), 'pb-ci-'));
after(() => rm(folder, { recursive: true, force: true }));
// Stands for the program: the scripts alone are tested here.
const fake = join(folder, 'patchbay');
const noGit = spawnSync('git', ['--version']).error !== undefined && 'git is not installed';
/** Environment in which neither the repository of a hook that runs these tests nor the settings of its user matter. */
const ownEnv = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'))),
  ...{ GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1', PATH: `${join(folder, 'bin')}:${process.env.PATH}` },
};
await makeFake();

async function makeFake(): Promise<void> {
  await mkdir(join(fake, 'scripts'), { recursive: true });
  await mkdir(join(fake, 'node_modules'));
  await writeFile(join(fake, 'node_modules/present'), '');
  const program =
    'console.log(process.argv.slice(2).join(" ")); process.exit(process.argv[3].includes("bad") ? 1 : process.argv[3].includes("late") ? 3 : 0);';
  await writeFile(join(fake, 'scripts/patchbay.mjs'), program);
  await mkdir(join(folder, 'bin'));
  for (const name of ['socat', 'ip', 'tcpdump']) {
    await writeFile(join(folder, 'bin', name), '#!/bin/sh\n');
    await chmod(join(folder, 'bin', name), 0o755);
  }
  for (const file of ['ci-test.sh', 'github-action/action.yml']) await cp(join(packaging, file), join(fake, 'packaging', file));
}

interface Action {
  readonly inputs: Record<string, { readonly default: string }>;
  readonly runs: { using: string; steps: { run: string; env: Record<string, string> }[] };
}

interface GitLabJob {
  readonly variables: Record<string, string>;
  readonly script: readonly string[];
}

test('the action is a composite one, passes its inputs by the environment, and runs the script', async () => {
  const { inputs, runs } = parse(await readFile(join(packaging, 'github-action/action.yml'), 'utf8')) as Action;
  const [step] = runs.steps;
  assert.ok(step && runs.using === 'composite');
  // An expression in `run` would be code that a pull request can write.
  assert.ok(!step.run.includes('${{'));
  for (const name of Object.keys(inputs)) assert.ok(Object.values(step.env).includes(`\${{ inputs.${name} }}`), name);
  const template = parse(await readFile(join(packaging, 'gitlab/patchbay-test.yml'), 'utf8')) as Record<
    string,
    { script: string[] }
  >;
  for (const text of [step.run, template['.patchbay-test']?.script.join('\n') ?? ''])
    assert.ok(text.includes('/packaging/ci-test.sh'));
  await access(join(packaging, 'ci-test.sh'));
});

test('the script names only options of the command', async () => {
  const script = await readFile(join(packaging, 'ci-test.sh'), 'utf8');
  const line = script.split('\n').find((text) => text.includes('patchbay.mjs" test')) ?? '';
  const named = Array.from(line.matchAll(/--([a-z]+)/g), ([, name = '']) => name);
  assert.deepEqual(named, ['isolated', 'artifacts', 'seed']);
  for (const name of named) assert.ok(name in testCommand.options, name);
});

test('the script tests each lab, and ends with the highest exit code', async () => {
  const env = { ...ownEnv, SEED: '7' };
  const run = (...labs: string[]) =>
    new Promise<{ code: number; output: string }>((done) => {
      execFile(join(packaging, 'ci-test.sh'), [fake, 'out', ...labs], { env }, (error, output) => {
        done({ code: Number(error?.code ?? 0), output });
      });
    });
  assert.deepEqual(await run('a b/good.yaml', 'late.yaml', 'bad.yaml'), {
    code: 3,
    output: [
      'test a b/good.yaml --isolated --artifacts out/good --seed 7',
      'test late.yaml --isolated --artifacts out/late --seed 7',
      'test bad.yaml --isolated --artifacts out/bad --seed 7\n',
    ].join('\n'),
  });
  assert.equal((await run('good.yaml')).code, 0);
});

/** Runs a script as runners do: GitHub's `shell: bash` and GitLab's runner both have `-e` and `pipefail`. */
function bash(script: string, given: Record<string, string>): Promise<{ code: number; output: string }> {
  return new Promise((done) => {
    const options = { env: { ...ownEnv, ...given }, cwd: folder };
    execFile('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script], options, (error, output) => {
      done({ code: Number(error?.code ?? 0), output });
    });
  });
}
const tested = [
  'test bad.yaml --isolated --artifacts patchbay-reports/bad --seed 5',
  'test good.yaml --isolated --artifacts patchbay-reports/good --seed 5\n',
].join('\n');

test('the step of the action tests each lab', async () => {
  const { inputs, runs } = parse(await readFile(join(packaging, 'github-action/action.yml'), 'utf8')) as Action;
  const [step] = runs.steps;
  assert.ok(step);
  const values: Record<string, string> = {
    ...Object.fromEntries(Object.entries(inputs).map(([name, { default: value }]) => [`inputs.${name}`, value])),
    ...{ 'inputs.labs': 'bad.yaml good.yaml', 'inputs.seed': '5', 'github.action_path': join(fake, 'packaging/github-action') },
  };
  const filled = Object.fromEntries(
    Object.entries(step.env).map(([name, text]) => [
      name,
      text.replaceAll(/\$\{\{ ([\w.]+) \}\}/g, (_all, key: string) => values[key] ?? ''),
    ]),
  );
  assert.deepEqual(await bash(step.run, filled), { code: 1, output: tested });
});

test('the job of the template clones Patchbay and tests each lab', { skip: noGit }, async () => {
  const git = (...args: string[]) =>
    promisify(execFile)('git', ['-C', fake, '-c', 'user.name=ci', '-c', 'user.email=ci@ci', ...args], { env: ownEnv });
  await git('init', '-q', '-b', 'main');
  await git('add', '-A');
  await git('commit', '-qm', 'fake');
  const { variables, script } = (
    parse(await readFile(join(packaging, 'gitlab/patchbay-test.yml'), 'utf8')) as Record<string, GitLabJob>
  )['.patchbay-test'] as GitLabJob;
  const lines = script.map((line) => line.replaceAll('/tmp/patchbay', join(folder, 'cloned'))).join('\n');
  const given = { ...variables, LABS: 'bad.yaml good.yaml', SEED: '5', PATCHBAY_REPOSITORY: fake };
  assert.deepEqual(await bash(lines, given), { code: 1, output: tested });
});

test('the examples with clients name what the checkout has', async () => {
  const checkout = resolve(packaging, '..');
  for (const file of ['github-clients.yml', 'gitlab-clients.yml']) {
    const text = await readFile(join(packaging, 'examples', file), 'utf8');
    const jobs = parse(text) as object;
    const used = Array.from(JSON.stringify(jobs).matchAll(/[/ "]patchbay\/([\w./-]+)/g), ([, path = '']) => path);
    const paths = new Set(used.filter((path) => !path.endsWith('.git')));
    assert.deepEqual([...paths].sort(), ['clients/pytest', 'clients/typescript', 'scripts/patchbay.mjs'], file);
    for (const path of paths) await access(join(checkout, path));
    assert.match(text, /\$PATCHBAY_COMMAND lab run lab\.yaml -- /);
  }
  const { scripts } = JSON.parse(await readFile(join(checkout, 'clients/typescript/package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  assert.ok(scripts.build);
  const plugin = await readFile(join(checkout, 'clients/pytest/pytest_patchbay/plugin.py'), 'utf8');
  assert.ok(plugin.includes('PATCHBAY_COMMAND'));
});

test('`patchbay images` says what to do where no engine runs', async () => {
  const main = resolve(packaging, '../src/main.ts');
  await assert.rejects(promisify(execFile)(process.execPath, [main, 'images', join(folder, 'no.sock')]), (error: Error) => {
    const { code, stderr } = error as Error & { code: number; stderr: string };
    assert.equal(code, 1);
    assert.match(stderr, /the images could not be made: .*Start Docker, or name its socket/);
    return true;
  });
});
