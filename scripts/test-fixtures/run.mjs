/** `node run.mjs LIMITS FILE…`: the runner on fixtures, with short limits. */
import { runTests } from '../test-runner.mjs';

const [limits = '{}', ...files] = process.argv.slice(2);
process.exitCode = await runTests(files, { limits: JSON.parse(limits) });
