import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Candidate } from './choose-compute.ts';
import { linkWeight, type PartLink, type PartNode, partition } from './partition.ts';

const hosts = (count: number, memory: number): Candidate[] =>
  Array.from({ length: count }, (_, index) => ({ id: `h${index}`, cpus: 64, memory, used: { cpus: 0, memory: 0 } }));
const anywhere = new Set(['h0', 'h1', 'h2', 'h3']);
const node = (memory = 100, on: ReadonlySet<string> = anywhere): PartNode => ({ needs: { cpus: 0.1, memory }, on });
const link = (one: number, other: number, delay = 0): PartLink => ({ ends: [one, other], weight: linkWeight(delay) });

/** Rings of this size, joined in a line by one link each. */
function rings(count: number, size: number): { nodes: PartNode[]; links: PartLink[] } {
  const nodes = Array.from({ length: count * size }, () => node());
  const links: PartLink[] = [];
  for (let ring = 0; ring < count; ring++) {
    const first = ring * size;
    for (let index = 0; index < size; index++) links.push(link(first + index, first + ((index + 1) % size)));
    if (ring > 0) links.push(link(first, first - size));
  }
  return { nodes, links };
}

test('a lab that fits one host stays on it', async () => {
  const { nodes, links } = rings(3, 5);
  const { computes, cut } = await partition(nodes, links, hosts(3, 10_000));
  assert.equal(cut, 0);
  assert.equal(new Set(computes).size, 1);
});

test('a lab that does not fit is cut at few links, and no host gets more than it has', async () => {
  const { nodes, links } = rings(4, 8);
  // A ring and a bit each.
  const { computes, cut } = await partition(nodes, links, hosts(4, 1_000));
  assert.ok(cut <= 9, `${cut} links cut, of ${links.length}`);
  for (const host of anywhere) {
    const memory = computes.filter((compute) => compute === host).length * 100;
    assert.ok(memory <= 900, `${host}: ${memory}`);
  }
  assert.ok(!computes.includes(undefined));
});

test('links with a delay are cut before others', async () => {
  // A line of four; two fit on a host, and the links at its ends would be as good to cut without the delay.
  const links = [link(0, 1, 10), link(1, 2), link(2, 3, 10)];
  const nodes = [node(), node(), node(), node()];
  const { computes } = await partition(nodes, links, hosts(3, 250));
  assert.equal(computes[1], computes[2]);
});

test('nodes stay where they must be, and one that fits nowhere is left out', async () => {
  const nodes = [node(100, new Set(['h2'])), node(), node(1_000_000)];
  const { computes } = await partition(nodes, [link(0, 1)], hosts(3, 1_000));
  assert.deepEqual(computes, ['h2', 'h2', undefined]);
});

test('ten thousand nodes are placed completely', async () => {
  const { nodes, links } = rings(1_000, 10);
  const { computes, cut } = await partition(nodes, links, hosts(4, 400_000));
  assert.ok(!computes.includes(undefined));
  assert.ok(cut < links.length / 20, `${cut} of ${links.length}`);
});
