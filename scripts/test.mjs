/**
 * All tests, beside the code and in `test/`: first the files that take long, then all others.
 * Arguments that are files, folders or patterns replace this selection, `--changed` or `--changed=COMMIT` selects the files that a change
 * since `main` or COMMIT concerns; `--test-name-pattern=TEXT` and `--test-only` select tests in them.
 */
import { parseArgs } from 'node:util';
import { ensureImage } from '../demo/containers/image.ts';
import { frrRecipe, keepalivedRecipe } from '../demo/containers/recipes.ts';
import { ensureGuest } from '../demo/guest/guest.ts';
import { bundleProgram } from './bundle-program.mjs';
import { runTests } from './test-runner.mjs';
import { listChanged } from './test-selection.mjs';

// `--changed` may stand without a value.
const args = process.argv.slice(2).map((arg) => (arg === '--changed' ? '--changed=main' : arg));
const { values, positionals } = parseArgs({
  args,
  allowPositionals: true,
  options: {
    help: { type: 'boolean', default: false },
    changed: { type: 'string' },
    'test-name-pattern': { type: 'string', multiple: true },
    'test-only': { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log('Usage: npm test [-- FILE-FOLDER-OR-PATTERN… --changed[=COMMIT] --test-name-pattern=TEXT … --test-only]');
  process.exit(0);
}
/** Files that take the most time, 40 s to two minutes, and nearly all of it wait: they begin first, so that none runs alone at the end. */
const longest = [
  'integration/{kubernetes-slices,nat-switch,relocation,slurm-engine,slurm-slices}',
  'lab/{routers,verdicts}',
  'contract/{two-computes,warm-labs}',
  'durability/upgrade',
];
/** Files that take about a quarter of a minute or more. Some wait, others compute: as one pattern they begin in a mixed order. */
const long = [
  'bad-input/{attack,fields,ids,programs,attack/event-loop}',
  'browser/{demo-lab,first-lab,keyboard,large,link,steps,templates,views}',
  'conformance/conformance',
  'contract/{checkpoints,filters-act,filters-kept,link-stats,portable,schedules,screen,several-captures,switch-traffic}',
  'durability/{away-controller,busy-slice,freeze-kill,kill,live-move,warm-traffic}',
  'integration/{console-access,console-sizes,debian-package,docker,docker-screen,dynamips,fabric-client,fabric-peers,imported-files}',
  'integration/{lab-commands,link-relay,link-state,link-streams,machine-link-faults,machine-links,nat,pc-oracle,routers-through-links,slices}',
  'integration/{slow-compute,unplugged-cable,version-skew}',
  'lab/{dns-satellite,examples,void-verdicts}',
  'simulation/simulation',
  'tools/tools',
];
/** Long files begin first. `docs/testing.md` gives the reasons why they are long. */
const longFirst = [
  `test/{${longest.join()}}.test.ts`,
  `{test/{${long.join()}},clients/{typescript,pytest}/**/*,src/emulators/{docker/driver,qemu/emulator,qemu/memory/memory}}.test.ts`,
  'scripts/test-runner.test.mjs',
];
const everything = [...longFirst, '{src,lab,cli,web,demo,bench,scripts,test,clients}/**/*.test.{ts,mjs}'];
const names = values['test-name-pattern'];
// Built once here, not by two tests concurrently. A test that needs the guest or an image reports why it is missing.
await ensureGuest(console.log).catch((error) => console.error(error.message));
for (const recipe of [await frrRecipe(), keepalivedRecipe()]) {
  await ensureImage(recipe, console.log).catch((error) => console.error(error.message));
}
const patterns = positionals.length > 0 ? positionals : everything;
const selected = values.changed === undefined ? patterns : await listChanged(patterns, values.changed);
if (values.changed !== undefined) {
  console.log(
    `Changed since ${values.changed}: ${selected.length} test files. Tests that start the server are not among them: name their folder.`,
  );
  if (selected.length === 0) process.exit(0);
}
// Servers of a few files start from the sources, which is cheaper than the bundle.
const isWhole = selected === everything;
if (isWhole) {
  const program = await bundleProgram().catch((error) => console.error(`Servers start from src/: ${error.message}`));
  if (program) process.env.PATCHBAY_TEST_PROGRAM = program;
}
process.exitCode = await runTests(selected, {
  share: isWhole,
  ...(names && { testNamePatterns: names.map(toPattern) }),
  ...(values['test-only'] && { only: true }),
});

/** Like Node's command line: `/…/flags` is a regular expression, any other text is the source of one. */
function toPattern(text) {
  const [, source = text, flags = ''] = /^\/(.*)\/([a-z]*)$/.exec(text) ?? [];
  return new RegExp(source, flags);
}
