/** A compute in a process of its own, called by route key over its standard input and output, so that a test can kill it. */
import { createInterface } from 'node:readline';
import { isFault } from '../../../src/api/faults.ts';
import { HostCompute } from '../../../src/compute/compute.ts';
import { readSettings } from '../../../src/settings.ts';

interface Request {
  id: number;
  key: string;
  path: Record<string, string>;
  body: unknown;
}

const [dataDirectory = ''] = process.argv.slice(2);
const log = (message: string) => void process.stderr.write(`${message}\n`);
const say = (line: unknown) => void process.stdout.write(`${JSON.stringify(line)}\n`);
const settings = await readSettings({ dataDirectory, host: '127.0.0.1' });
const compute = await HostCompute.open({
  settings,
  version: '2.2.60',
  findings: async () => [],
  log: { debug: () => undefined, info: log, warn: log, error: log },
});
compute.events.subscribe((event) => say({ event }));
say({ ready: true });
createInterface({ input: process.stdin }).on('line', (line) => void answer(JSON.parse(line) as Request));

async function answer({ id, key, path, body }: Request): Promise<void> {
  try {
    if (key === 'stop') {
      await compute.stop(body as { stopNodes: boolean });
      say({ id, result: null });
      process.exit(0);
    }
    const route = compute.routes().find((candidate) => candidate.key === key);
    if (!route) throw new Error(`no route ${key}`);
    const result = await route.handle({ path, body, query: {}, signal: new AbortController().signal });
    say({ id, result: result ?? null });
  } catch (error) {
    const code = isFault(error) ? error.code : 'bug';
    say({ id, error: { code, message: (error as Error).stack } });
  }
}
