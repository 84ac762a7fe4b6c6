/** The PCs of the fabric compared with the program `vpcs` 0.5b2: the same lines typed into both, times and ports left out. */
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { isDeepStrictEqual, promisify } from 'node:util';
import { PcLan } from '../support/pc-lan.ts';

/** Left out: help and version, whose sentences are ours, and the rows of `test/conformance/divergences.md`. */
const lines = [
  ...['show arp', 'show dump', 'show echo', 'ip 10.0.0.1/24 10.0.0.254', 'show', 'show ip', 'show ip all'],
  ...['ip 10.0.0.1 10.0.0.254 /26', 'ip 10.0.0.0/24', 'ip 10.0.0.256', 'ip foo', 'ip 0.0.0.0', 'ip 10.0.0.1/24 10.0.0.1'],
  ...['ip 10.0.0.1/24 10.0.0.255', 'ip 10.0.0.1/24 foo', 'ip 10.0.0.2/24', 'ip 10.0.0.1/24', 'ping 10.0.0.2 -c 2 -i 10'],
  ...[
    'ping 10.0.0.2 -c 1 -2 -i 10',
    'ping 10.0.0.2 -c 1 -3 -i 10',
    'ping 10.0.0.2 -3 -p 22 -c 1 -f s',
    'ping 10.0.0.2 -P 17 -p 99 -s 1234 -c 1',
  ],
  ...[
    'ping 10.1.0.9',
    'ping foo',
    'ping 10.0.0.2 -z',
    'ping 10.0.0.9',
    'trace 10.0.0.2',
    'trace 10.0.0.2 -P 1',
    'trace 10.0.0.2 -P 6 -m 3',
  ],
  ...[
    'arp',
    'arp all',
    'trace foo',
    'ip 2001:db8::1/64',
    'ping 2001:db8::2 -c 1',
    'ip 2001:db8::xx',
    'show',
    'show ipv6',
    'clear ipv6',
  ],
  ...[
    'set pcname',
    'set pcname a b',
    'set echo',
    'set echo on',
    'show echo',
    'set dump foo',
    'set dump all',
    'set dump detail mac',
  ],
  ...[
    'show dump',
    'set dump off',
    'set bogus',
    'ip mtu 100',
    'ip mtu 1400',
    'show ip',
    'ip dns foo',
    'ip dns 1.2.3.4',
    'ip domain lab.test',
  ],
  ...[
    'show ip',
    'bogus',
    's',
    'h',
    'show bogus',
    'echo  hello  world ',
    'clear arp',
    'clear bogus',
    'load missing',
    'save',
    'rlogin foo 1',
  ],
  ...['sleep 1', 'sleep 1 hello there', 'clear ip', 'clear hist', 'history'],
];

const normal = (text: string) =>
  text
    .replace(/\d+\.\d{3} ms/g, 'T ms')
    .replace(/expires in \d+ seconds/g, 'expires in T seconds')
    .replace(/\b(VPCS1?|PC1)\b(?= +\d|\[|>)/g, 'NAME')
    .replace(/(LPORT +: ).*/g, '$1L')
    .replace(/(RHOST:PORT +: ).*/g, '$1R')
    .replace(/ +\d+ +127\.0\.0\.1:\d+/g, ' L R')
    .replace(/NAME +/g, 'NAME ')
    .trimEnd();

function findObstacle(): string | undefined {
  try {
    execFileSync('sh', ['-c', 'command -v vpcs && command -v ip && unshare --net true'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'vpcs is not installed (apt install vpcs), or no network namespace can be made';
  }
}

/** Consoles' answers of `vpcs` to the lines, in a network namespace of their own. */
async function askVpcs(): Promise<string[]> {
  const driver = join(import.meta.dirname, '../support/vpcs-pair.ts');
  const script = 'ip link set lo up && exec "$0" "$@"';
  const { stdout } = await promisify(execFile)(
    'unshare',
    ['--net', 'sh', '-c', script, process.execPath, driver, JSON.stringify(lines)],
    { timeout: 240_000, maxBuffer: 1e7 },
  );
  return (JSON.parse(stdout) as string[]).map(normal);
}

test('the console shows the same as vpcs', { skip: findObstacle() ?? false }, async () => {
  const started = askVpcs();
  const lan = new PcLan();
  const [one, two] = [lan.add(), lan.add()];
  for (const line of ['ip 10.0.0.2/24', 'ip 2001:db8::2/64']) await lan.type(two, line);
  const ours: string[] = [];
  for (const line of lines) ours.push(normal(await lan.type(one, line)));
  let theirs = await started;
  // The program measures real time: on a busy machine it takes probes as lost, and is asked again. Ours have a simulated clock.
  for (let tries = 1; tries < 3 && !isDeepStrictEqual(ours, theirs); tries += 1) theirs = await askVpcs();
  assert.deepEqual(ours, theirs);
});
