/**
 * The transcripts of GNS3, replayed: same status, content type, `X-Route`, and body. Each intended difference is a
 * row of `divergences.md`; a difference without a row fails, and so does a row without a difference.
 */
import assert from 'node:assert/strict';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { RawClient } from '../support/raw-http.ts';
import { type ServerOptions, startServer } from '../support/server.ts';
import { covers, readDivergences } from './divergences.ts';
import { type CallDifference, Replay } from './replay.ts';
import { readTranscript } from './transcript.ts';

/** Sections in the order in which they were recorded: later ones count on what earlier ones left. */
const sections = [
  'server',
  'generic',
  'projects',
  'duplicate',
  'nodes',
  'links',
  'compute-qemu',
  'compute-other',
  'computes',
  'drawings',
  'closed',
  'snapshots',
  'templates',
  'misc',
  'zz-destructive',
];
/** The list that GNS3 has built in. Ours is a setting and shorter, so that no page that came over plain HTTP is trusted. */
const allowed_origins = [
  ...['http://127.0.0.1:3080', 'http://localhost:3080', 'http://127.0.0.1:4200', 'http://localhost:4200'],
  ...['http://gns3.github.io', 'https://gns3.github.io'],
].join();
const divergences = await readDivergences();

await replay('a local server', sections, { args: ['--local'], config: { Server: { allowed_origins } } });
await replay('a server with credentials', ['auth'], {
  config: { Server: { auth: true, user: 'gns3', password: 'gns3', allowed_origins } },
});
await replay('a server that is not local', ['nonlocal'], { args: ['--no-local'] });

it('every row of divergences.md belongs to a transcript and has a reason', () => {
  const known = new Set([...sections, 'auth', 'nonlocal']);
  for (const row of divergences) assert.ok(known.has(row.section) && row.reason, JSON.stringify(row));
});

function replay(what: string, names: readonly string[], options: ServerOptions): Promise<void> {
  return describe(what, async () => {
    const work = await realpath(await mkdtemp(join(tmpdir(), 'pb-work-')));
    const server = await startServer({ ...options, config: { Qemu: { acceleration: 'off' }, ...options.config } });
    const client = new RawClient(server.url);
    const replayed = new Replay(client, work);
    for (const section of names) it(section, () => check(replayed, section));
    it('ends without a trace', async () => {
      client.close();
      await rm(work, { recursive: true, force: true });
      await server.stop();
    });
  });
}

async function check(replayed: Replay, section: string): Promise<void> {
  const rows = divergences.filter((row) => row.section === section);
  const isExpected = (difference: CallDifference) => rows.some((row) => covers(row, difference));
  const found = await replayed.section(await readTranscript(section), isExpected);
  const unlisted = found.filter((difference) => !isExpected(difference));
  const stale = rows.filter((row) => !found.some((difference) => covers(row, difference)));
  const lines = [
    ...unlisted.map(({ call, where, gns3, ours }) => `${call}: ${where}: ${gns3}, ours ${ours}`),
    ...stale.map(({ call, where }) => `divergences.md lists a difference that is none any more: ${call}: ${where}`),
  ];
  assert.equal(lines.length, 0, `${lines.length} in ${section}\n${lines.join('\n')}`);
}
