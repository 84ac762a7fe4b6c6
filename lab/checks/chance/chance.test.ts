/** The probabilities of checks: exact against enumeration, and against the filters of the fabric played from many seeds. */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { noPath } from '../../../src/fabric/filters/filter.ts';
import { buildChains, noChains } from '../../../src/fabric/filters/filter-chains.ts';
import type { Filters } from '../../../src/schema/filter.ts';
import type { Lab } from '../../file/lab.ts';
import { loadLab } from '../../file/load-lab.ts';
import type { CheckStep } from '../definition/steps.ts';
import { linkSeed } from '../run/seeds.ts';
import { chancesOf } from './chance.ts';
import { formatChance } from './format-chance.ts';
import { binomial, passDistribution } from './loss-chain.ts';
import { packetsOf, unlikely } from './packet-check.ts';
import { stepChance } from './step-chance.ts';

const labs = resolve(import.meta.dirname, '../../../labs');
const samples = resolve(import.meta.dirname, '../../../web/dialogs/samples');
const noFiles = { read: () => Promise.reject(new Error('it names no file')) };
const load = (text: string, file = 'lab.yaml') => loadLab({ text, file, files: noFiles as never });
const pair = (filters: string, checks: string) => `
name: pair
nodes:
  PC1: { kind: vpcs, config: "ip 10.0.0.1/24\\n" }
  PC2: { kind: vpcs, config: "ip 10.0.0.2/24\\n" }
links:
  - { ends: [PC1, PC2], filters: ${filters} }
checks:
${checks.replaceAll(/^/gm, '  ')}
`;
const only = async (text: string) => {
  const lab = await load(text);
  return [...chancesOf(lab).values()];
};
const sum = (values: readonly number[]) => values.reduce((total, one) => total + one, 0);

/** Requests and answers over the links of the file's first check, as its filters let them pass with this seed. */
function play(filters: Filters, seed: number) {
  const chains = buildChains({ filters, seed, programs: { ab: [], ba: [] }, isScheduled: false, path: noPath } as never, noChains);
  const frame = Buffer.alloc(98);
  return (direction: 'ab' | 'ba') => chains[direction].every(({ filter }) => filter.pass?.(frame, 0, frame.length) !== false);
}

describe('the distribution of packets that pass', () => {
  it('is a binomial one for links without memory', () => {
    const found = passDistribution(20, [{ loss: 0.1 }, { loss: 0.1 }]);
    for (const [k, p] of binomial(20, 0.81).entries()) assert.ok(Math.abs((found[k] as number) - p) < 1e-12);
    assert.ok(Math.abs(sum(found) - 1) < 1e-12);
    assert.deepEqual(passDistribution(2, [{ loss: 0 }]), [0, 0, 1]);
    assert.deepEqual(passDistribution(2, [{ loss: 1 }]), [1, 0, 0]);
  });

  it('with bursts is the sum over all courses of the two states', () => {
    const burst = { begins: 0.2, ends: 0.5, lossWhenGood: 0.1, lossWhenBad: 0.9 };
    const found = passDistribution(4, [{ loss: 0, burst }]);
    const expected = [0, 0, 0, 0, 0];
    const walk = (left: number, bad: boolean, arrived: number, probability: number) => {
      if (left === 0) expected[arrived] = (expected[arrived] as number) + probability;
      else
        for (const changes of [true, false]) {
          const flip = bad ? burst.ends : burst.begins;
          const next = changes ? !bad : bad;
          const loss = next ? burst.lossWhenBad : burst.lossWhenGood;
          const p = probability * (changes ? flip : 1 - flip);
          walk(left - 1, next, arrived, p * loss);
          walk(left - 1, next, arrived + 1, p * (1 - loss));
        }
    };
    walk(4, false, 0, 0.5 / 0.7);
    walk(4, true, 0, 0.2 / 0.7);
    for (const [k, p] of expected.entries()) assert.ok(Math.abs((found[k] as number) - p) < 1e-12, `${k}`);
  });

  it('is what the filters of the fabric do, with and without bursts', () => {
    for (const [filters, hops] of [
      [{ packet_loss: [10] }, [{ loss: 0.1 }, { loss: 0.1 }]],
      [
        { burst_loss: [5, 40, 1, 80] },
        Array.from({ length: 2 }, () => ({ loss: 0, burst: { begins: 0.05, ends: 0.4, lossWhenGood: 0.01, lossWhenBad: 0.8 } })),
      ],
    ] as const) {
      const counts = new Array<number>(11).fill(0);
      const runs = 4000;
      for (let seed = 1; seed <= runs; seed += 1) {
        const passes = play(filters as never, seed);
        // The states of bursts have become steady.
        for (let warm = 0; warm < 40; warm += 1) if (passes('ab')) passes('ba');
        let arrived = 0;
        for (let sent = 0; sent < 10; sent += 1) if (passes('ab') && passes('ba')) arrived += 1;
        counts[arrived] = (counts[arrived] as number) + 1;
      }
      const expected = passDistribution(10, hops);
      const distance = sum(counts.map((count, k) => Math.abs(count / runs - (expected[k] as number))));
      assert.ok(distance < 0.06, `${JSON.stringify(filters)}: ${distance}`);
    }
  });
});

describe('a check over a lossy link', () => {
  it('has its probability, and what to do', async () => {
    const [chance] = await only(
      pair('{ packet_loss: 10% }', '- { name: a, node: PC1, ping: { to: 10.0.0.2, count: 40 }, expect: { loss: 5%..30% } }'),
    );
    assert.ok(chance?.fails !== undefined && chance.fails > 0.01 && chance.fails < 0.2);
    assert.match(chance.text, /^fails by chance 1 in \d+: send \d+ pings, or widen loss to \d+%\.\.\d+%, or fix a seed$/);
    const [, pings, min, max] = /send (\d+) pings, or widen loss to (\d+)%\.\.(\d+)%/.exec(chance.text) ?? [];
    for (const [count, loss] of [
      [pings, '5%..30%'],
      [40, `${min}%..${max}%`],
    ]) {
      const [better] = await only(
        pair('{ packet_loss: 10% }', `- { node: PC1, ping: { to: 10.0.0.2, count: ${count} }, expect: { loss: ${loss} } }`),
      );
      assert.ok((better?.fails ?? 1) <= unlikely, `${count} ${loss}: ${better?.fails}`);
    }
  });

  it('counts the search for the address where it is what is tested', async () => {
    const check = (resolve: boolean) =>
      only(
        pair(
          '{ packet_loss: 10% }',
          `- { node: PC1, ping: { to: 10.0.0.2, count: 200, resolve: ${resolve} }, expect: { loss: 0%..60% } }`,
        ),
      );
    const [[counted], [resolved]] = await Promise.all([check(false), check(true)]);
    assert.ok(Math.abs((counted?.fails ?? 0) - 0.19 ** 3) < 1e-6);
    assert.ok((resolved?.fails ?? 1) < 1e-12);
  });

  it('is known for filters of one direction, for traffic and for received; not where the file does not tell', async () => {
    const one = await only(
      pair('{ ab: { packet_loss: 50% } }', '- { node: PC1, ping: { to: 10.0.0.2, count: 1 }, expect: { received: 1 } }'),
    );
    assert.ok(Math.abs((one[0]?.fails ?? 0) - 0.5) < 1e-12);
    for (const [filters, to, why] of [
      ['{ packet_loss: 10% }', '10.9.9.9', /does not tell which node has the address/],
      ['{ packet_loss: 10%, match: icmp }', '10.0.0.2', /frames of an expression only \(match\)/],
      ['{ packet_loss: 10%, frequency_drop: 4 }', '10.0.0.2', /every nth frame/],
    ] as const) {
      const [chance] = await only(pair(filters, `- { node: PC1, ping: ${to}, expect: { loss: "<= 90%" } }`));
      assert.equal(chance?.fails, undefined);
      assert.match(chance?.text ?? '', why);
    }
  });

  it('depends on nothing where no frame is lost at random, or where no answer is expected', async () => {
    assert.deepEqual(await only(pair('{ delay: 20ms }', '- { node: PC1, ping: 10.0.0.2 }')), []);
    assert.deepEqual(await only(pair('{ packet_loss: 10% }', '- { node: PC1, ping: 10.0.0.2, expect: { received: 0 } }')), []);
  });

  it('follows what earlier steps change', async () => {
    const checks = `- { impair: { link: [PC1, PC2], filters: {} } }
- { node: PC1, ping: 10.0.0.2 }
- { impair: { link: [PC1, PC2], filters: { packet_loss: 20% } } }
- { node: PC1, ping: { to: 10.0.0.2, count: 1 } }`;
    const found = await only(pair('{ packet_loss: 10% }', checks));
    assert.equal(found.length, 1);
    assert.ok(Math.abs((found[0]?.fails ?? 0) - (1 - 0.64)) < 1e-12);
  });

  it('that failed is explained by chance, or not', async () => {
    const [chance] = await only(
      pair('{ packet_loss: 10% }', '- { node: PC1, ping: { to: 10.0.0.2, count: 40 }, expect: { loss: 5%..30% } }'),
    );
    const [likely, no] = [stepChance(chance, 27), stepChance(chance, 0)];
    assert.ok((likely?.pValue ?? 0) > 0.01);
    assert.match(likely?.text ?? '', /^chance alone may explain this result \(1 in \d+\); the check fails by chance/);
    assert.ok((no?.pValue ?? 1) < 1e-20);
    assert.match(no?.text ?? '', /^chance alone does not explain this result/);
    assert.deepEqual(Object.keys(stepChance(chance, undefined) ?? {}), ['fails', 'text']);
  });

  it('is written for people', () => {
    assert.deepEqual([0.5, 1 / 48, 1 / 1_234_567, 0].map(formatChance), [
      '50 %',
      '1 in 48',
      '1 in 1,200,000',
      'less than 1 in 1,000,000,000,000',
    ]);
  });
});

describe('the labs of the repository', () => {
  const all = async (): Promise<[string, Lab][]> => {
    const files = (
      await Promise.all([labs, samples].map(async (folder) => (await readdir(folder)).map((name) => join(folder, name))))
    )
      .flat()
      .filter((path) => path.endsWith('.yaml'));
    return Promise.all(files.map(async (path) => [basename(path), await load(await readFile(path, 'utf8'), basename(path))]));
  };

  it('have no check that fails by chance more than once in a million', async () => {
    for (const [name, lab] of await all()) {
      for (const [step, { fails, text }] of chancesOf(lab, false))
        assert.ok(fails !== undefined && fails <= unlikely, `${name}: ${step.name}: ${text}`);
    }
  });

  it('lossy trunk: its checks of packets hold with 10,000 seeds and with 117151942', async () => {
    const lab = new Map(await all()).get('vlan-trunk.yaml');
    const trunk = lab?.links.find(({ filters }) => filters.packet_loss);
    assert.ok(lab && trunk);
    const steps = lab.checks.flatMap((step): CheckStep[] => (step.what.verb === 'capture' ? [...step.what.steps] : [step]));
    const counted = steps.filter((step) => !packetsOf(step)?.acceptsOnlyNone);
    assert.equal(counted.length, 2);
    for (const seed of [117_151_942, ...Array.from({ length: 10_000 }, (_, index) => index + 1)]) {
      const passes = play(trunk.filters, linkSeed(seed, 'SW1:e2 – SW2:e2'));
      for (const step of counted) {
        const check = packetsOf(step);
        assert.ok(check);
        // Packets until the first answer, which does not count.
        for (let tries = 0; tries < 25 && !(passes('ab') && passes('ba')); tries += 1);
        let arrived = 0;
        for (let sent = 0; sent < check.count; sent += 1) if (passes('ab') && passes('ba')) arrived += 1;
        assert.ok(check.accepts(arrived), `seed ${seed}, ${step.name}: ${arrived} of ${check.count}`);
      }
    }
  });
});
