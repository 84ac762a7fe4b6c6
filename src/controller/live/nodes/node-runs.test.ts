/** Lists of runs that many callers ask for at once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RegisteredCompute } from '../../computes/compute.ts';
import type { ProjectContext } from '../host/project-context.ts';
import { NodeRuns } from './node-runs.ts';
import type { ProjectNodes } from './project-nodes.ts';

test('callers who ask while a list is under way share the next one, also its failure', async () => {
  const answers: PromiseWithResolvers<[]>[] = [];
  const call = () => {
    const answer = Promise.withResolvers<[]>();
    answers.push(answer);
    return answer.promise;
  };
  const compute = { hasNodeRuns: true, transport: { call } } as unknown as RegisteredCompute;
  const nodes = { all: () => [] } as unknown as ProjectNodes;
  const runs = new NodeRuns({ projectId: 'p' } as ProjectContext, nodes);
  const first = runs.list(compute);
  const later = [runs.list(compute), runs.list(compute), runs.list(compute)];
  assert.equal(answers.length, 1);
  answers[0]?.resolve([]);
  await first;
  await new Promise(setImmediate);
  assert.equal(answers.length, 2, 'the next one has begun');
  answers[1]?.reject(new Error('it is gone'));
  const outcomes = await Promise.allSettled(later);
  assert.deepEqual(
    outcomes.map((one) => one.status === 'rejected' && (one.reason as Error).message),
    ['it is gone', 'it is gone', 'it is gone'],
  );
  const last = runs.list(compute);
  assert.equal(answers.length, 3, 'a failure does not keep a list from beginning');
  answers[2]?.resolve([]);
  await last;
});
