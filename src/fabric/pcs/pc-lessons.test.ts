/** Lessons in the manner of those written for vpcs. A lesson is its own expected transcript; times are compared as `T`. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type LanPc, PcLan } from '../../../test/support/pc-lan.ts';
import { addServer } from '../../../test/support/pc-lan-server.ts';

const folder = join(import.meta.dirname, '../../../test/lessons/pcs');
const withoutTimes = (text: string) =>
  text
    .replace(/\d+\.\d{3} ms/g, 'T ms')
    .replace(/expires in \d+ seconds/g, 'expires in T seconds')
    .replace(/(id: |sum: |seq: |ack: )[0-9a-f]+/g, '$1T');

/** Types the commands of the lesson at its PCs and gives the transcript. */
async function play(lesson: string): Promise<string> {
  const lan = new PcLan();
  addServer(lan);
  const pcs: LanPc[] = [lan.add(), lan.add()];
  let transcript = '';
  for (const line of lesson.split('\n')) {
    const [, name = '', typed = ''] = /^(PC\d|R\d)> (.*)$/.exec(line) ?? [];
    const pc = pcs.find((each) => each.pc.settings().name === name);
    if (!pc) continue;
    transcript += `${name}> ${(await lan.type(pc, typed)).replace(/\n[^\n]*> $/, '')}\n`;
  }
  lan.close();
  return withoutTimes(transcript);
}

const lessons = readdirSync(folder).filter((name) => name.endsWith('.txt'));
test('there are ten lessons', () => assert.equal(lessons.length, 10));
for (const name of lessons)
  test(`the lesson ${name} runs unchanged`, async () => {
    const path = join(folder, name);
    const lesson = readFileSync(path, 'utf8');
    assert.equal(await play(lesson), lesson);
  });
