/** Labs made at random from the keys that each format documents, and from keys of later versions: nothing of them is lost in silence. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { generators, LabMaker } from '../../test/support/generated-labs.ts';
import { filesOf } from '../file/lab-files.ts';
import { loadLab } from '../file/load-lab.ts';
import { readYaml } from '../file/read-yaml.ts';
import type { ForeignProgram } from './import-lab.ts';
import { importLab } from './import-lab.ts';

const labsOfEach = 100;

describe('generated labs lose nothing in silence', () => {
  for (const [program, generate] of Object.entries(generators))
    it(`${labsOfEach} of ${program}`, async () => {
      for (let seed = 1; seed <= labsOfEach; seed += 1) {
        const make = new LabMaker(seed);
        const text = generate(make);
        const { text: lab, report } = importLab(text, 'generated', program as ForeignProgram);
        const reported = report.flatMap(({ node, taken, changed, missing }) => [node, ...taken, ...changed, ...missing]).join('\n');
        const lost = make.words.filter((word) => !lab.includes(word) && !reported.includes(word));
        assert.deepEqual(lost, [], `seed ${seed}\n${text}\n${lab}\n${reported}`);
        const named = [...lab.matchAll(/file: (\S+)/g)].map(([, path]) => [path ?? '', 'x'] as const);
        await loadLab({ text: lab, file: 'lab.yaml', files: filesOf(Object.fromEntries(named)) });
        assert.doesNotThrow(() => readYaml(lab, 'lab.yaml'));
      }
    });
});
