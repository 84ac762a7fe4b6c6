import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { filesOf } from './file/lab-files.ts';
import { loadLab } from './file/load-lab.ts';
import { layOut } from './layout.ts';

describe('nodes without a position are laid out', () => {
  const shapes: Record<string, string> = {
    'two PCs at a switch': 'nodes: {SW: {kind: ethernet_switch}, "PC[1-2]": {kind: vpcs}}\nlinks: [[SW, PC1], [SW, PC2]]',
    'a switch with many PCs': `nodes: {SW: {kind: ethernet_switch, ports: 200}, "PC[1-200]": {kind: vpcs}}
links: [["PC[1-200]", SW]]`,
    'a campus, which is a tree': `nodes: {A: {kind: ethernet_switch}, "B[1-3]": {kind: ethernet_switch}, "C[1-6]": {kind: ethernet_switch}, "P[1-8]": {kind: vpcs}}
links: [[A, B1], [A, B2], [A, B3], [B1, C1], [B1, C2], [B2, C3], [B2, C4], [B3, C5], [B3, C6], [C1, P1], [C1, P2], [C1, P3], [A, P4], [B2, P5], [C6, P6], [C6, P7]]`,
    'routers in a ring with stations': `nodes: {"R[1-5]": {kind: ethernet_switch}, "P[1-6]": {kind: vpcs}}
links: [[R1, R2], [R2, R3], [R3, R4], [R4, R5], [R5, R1], [R1, P1], [R1, P2], [R1, P3], [R1, P4], [R3, P5]]`,
    'nodes without links': 'nodes: {"P[1-60]": {kind: vpcs}}',
    'many pairs': `nodes: {"A[1-30]": {kind: vpcs}, "B[1-30]": {kind: vpcs}}
links: [["A[1-30]", "B[1-30]"]]`,
  };
  for (const [shape, text] of Object.entries(shapes)) {
    test(`${shape}: each where its name is readable, in a picture that fits a screen at some zoom`, async () => {
      const lab = await loadLab({ text: `name: drawn\n${text}\n`, file: 'lab.yaml', files: filesOf({}) });
      const points = [...layOut(lab, [])];
      assert.equal(points.length, lab.nodes.length);
      for (const [index, [name, { x, y }]] of points.entries()) {
        assert.ok(Number.isInteger(x) && Number.isInteger(y), `${name} is at ${x}, ${y}`);
        for (const [other, at] of points.slice(index + 1)) {
          assert.ok(
            Math.abs(x - at.x) >= 90 || Math.abs(y - at.y) >= 65,
            `${name} (${x}, ${y}) covers ${other} (${at.x}, ${at.y})`,
          );
        }
      }
      const width = Math.max(...points.map(([, { x }]) => x)) - Math.min(...points.map(([, { x }]) => x));
      assert.ok(width <= 2600, `${width} px wide`);
      const [first] = points;
      const beside = [...layOut(lab, [{ name: 'present', x: 500, y: 100 }]).values()];
      assert.ok(first && beside.every(({ x }) => x >= 700));
    });
  }
});
