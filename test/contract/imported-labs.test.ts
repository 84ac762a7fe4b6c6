/** Labs of other programs, made at random, on a real server: imported, applied, exported; the export plans no change and has every value. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ServerClient } from '../../cli/server-client.ts';
import { applyPlan } from '../../lab/apply.ts';
import { exportFrom } from '../../lab/export.ts';
import { filesOf } from '../../lab/file/lab-files.ts';
import { loadLab } from '../../lab/file/load-lab.ts';
import { type ForeignProgram, importLab } from '../../lab/import/import-lab.ts';
import { planOn } from '../../lab/open-lab.ts';
import { linesOf } from '../../lab/plan/lab-plan.ts';
import { generators, LabMaker } from '../support/generated-labs.ts';
import { freshName, withServer } from '../support/with-server.ts';

/** Each lab takes some 100 ms; `lab/import/generated-labs.test.ts` reads 100 of each format. */
const labsOfEach = 6;
const { server } = await withServer();
const api = new ServerClient({ url: server.url });

describe('an imported lab goes in and out', () => {
  for (const [program, generate] of Object.entries(generators))
    test(`${labsOfEach} of ${program}`, async () => {
      for (let seed = 1; seed <= labsOfEach; seed += 1) {
        const make = new LabMaker(1000 + seed);
        const imported = importLab(generate(make), 'generated', program as ForeignProgram);
        const named = (imported.files ?? []).map((path) => [path, `content of ${path}\n`] as const);
        // Names of projects are unique on a server; words of the lab's own name are in the import.
        const text = imported.text.replace(/^name: .*$/m, `name: ${freshName(program)}`);
        const load = (one: string) => loadLab({ text: one, file: 'lab.yaml', files: filesOf(Object.fromEntries(named)) });
        const lab = await load(text);
        const project = await applyPlan(api, lab, await planOn(api, lab));
        const exported = await exportFrom(api, project);
        const why = `seed ${seed}\n${text}\n${exported}`;
        assert.deepEqual(linesOf(await planOn(api, await load(exported))), [], why);
        const shown = (word: string) => exported.includes(word) || !text.includes(word);
        // Files of volumes are not exported, which a comment says of each node.
        const lost = make.words.filter((word) => !shown(word) && !imported.files?.some((path) => path.includes(word)));
        assert.deepEqual(lost, [], why);
      }
    });
});
