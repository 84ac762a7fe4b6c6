/** The demo's table: step, expected, measured, verdict. */

export interface Row {
  step: string;
  expected: string;
  measured: string;
  good: boolean;
  /** Measured values, for `--json`. */
  figures: Record<string, number | string>;
}

const heading = { step: 'step', expected: 'expected', measured: 'measured', verdict: 'verdict' };
const colours = { green: 32, red: 31, bold: 1 } as const;

export function renderTable(rows: readonly Row[], { colour }: { colour: boolean }): string {
  const paint = (text: string, tint: keyof typeof colours) => (colour ? `\x1b[${colours[tint]}m${text}\x1b[0m` : text);
  const cells = rows.map(({ step, expected, measured, good }) => ({ step, expected, measured, verdict: good ? 'good' : 'BAD' }));
  const width = (column: keyof typeof heading) => Math.max(...[heading, ...cells].map((cell) => [...cell[column]].length));
  const widths = { step: width('step'), expected: width('expected'), measured: width('measured'), verdict: width('verdict') };
  const line = (cell: typeof heading) =>
    `${cell.step.padEnd(widths.step)}  ${cell.expected.padEnd(widths.expected)}  ${cell.measured.padEnd(widths.measured)}`;
  const rule = '─'.repeat(widths.step + widths.expected + widths.measured + widths.verdict + 6);
  const body = cells.map((cell) => `${line(cell)}  ${paint(cell.verdict, cell.verdict === 'good' ? 'green' : 'red')}`);
  return [`${paint(`${line(heading)}  ${heading.verdict}`, 'bold')}`, rule, ...body].join('\n');
}
