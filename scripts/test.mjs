/**
 * All tests: first the tools (`test/tools`: tsc and Biome), then the files that take minutes, then all others, beside the code and in `test/`.
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
/** Files that take about half a minute or more. Some wait, others compute: as one pattern they start in a mixed order. */
const long = [
  'bad-input/{attack,deletion,fields,ids,programs,attack/event-loop,attack/limits}',
  'browser/{appliances,canvas,consoles,demo-lab,first-lab,keyboard,large,link,views}',
  'contract/{captures,captures-reopened,filters-kept,link-stats,portable,screen,several-captures,switch-traffic,two-computes,warm-labs}',
  'durability/{damaged,faults,freeze-kill,live-move,restore-kill,shutdown,upgrade,warm-traffic}',
  'integration/{cloud,compute/captures,console-access,debian-package,docker,docker-screen,lab-commands,link-streams}',
  'integration/{engine-slices,nat,nat-switch,relocation,routers-through-links,run-as,slices,slow-compute,slurm-engine,slurm-slices,version-skew}',
  'integration/{bisect,dynamips,iou,kubernetes-slices,link-state,unplugged-cable}',
  'lab/{dns-satellite,routers,verdicts,void-verdicts}',
  'simulation/simulation',
];
/** Long files start first, so that none of them runs alone at the end. `docs/testing.md` gives the reasons. */
const longFirst = [
  'test/tools/*.test.ts',
  'test/durability/kill.test.ts',
  'test/conformance/conformance.test.ts',
  `{test/{${long.join()}},clients/{typescript,pytest}/**/*}.test.ts`,
];
const everything = [...longFirst, '{src,lab,cli,web,demo,scripts,test,clients}/**/*.test.{ts,mjs}'];
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
