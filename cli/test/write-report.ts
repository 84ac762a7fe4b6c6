/** Writes the report of a test to the files that the options name. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { htmlReport } from '../../lab/checks/report/html.ts';
import { junitXml } from '../../lab/checks/report/junit.ts';
import { plainText } from '../../lab/checks/report/plain-text.ts';
import type { TestReport } from '../../lab/checks/report/test-report.ts';
import type { StepReport } from '../../lab/checks/run/step-report.ts';

interface ReportPlaces {
  readonly junit: string | undefined;
  readonly html: string | undefined;
  /** Folder of the artifacts. */
  readonly artifacts: string | undefined;
}

export async function writeReport(report: TestReport, { junit, html, artifacts }: ReportPlaces): Promise<void> {
  if (junit !== undefined) await write(junit, junitXml(report));
  if (html !== undefined) await write(html, htmlReport(report));
  if (artifacts === undefined) return;
  await write(join(artifacts, 'junit.xml'), junitXml(report));
  await write(join(artifacts, 'report.html'), htmlReport(report));
  await write(join(artifacts, 'report.json'), `${JSON.stringify(jsonReport(report), undefined, 2)}\n`);
  for (const { node, entries } of report.consoles) {
    const text = entries
      .map((entry) => `[${(entry.atMs / 1000).toFixed(3)} ${entry.direction}] ${plainText(entry.text)}\n`)
      .join('');
    await write(join(artifacts, 'consoles', `${fileName(node)}.txt`), text);
  }
  for (const [index, { name, capture }] of withCaptures(report.steps).entries()) {
    if (capture) await write(join(artifacts, 'captures', `${index + 1}-${fileName(name)}.pcap`), capture.pcap);
  }
}

/** Returns the report for programs: captures and consoles are separate files. */
export function jsonReport({ consoles: _consoles, topology: _topology, ...report }: TestReport): unknown {
  const plain = ({ capture, steps, ...step }: StepReport): unknown => ({
    ...step,
    ...(capture && { packets: capture.packets }),
    steps: steps.map(plain),
  });
  return { ...report, steps: report.steps.map(plain) };
}

function withCaptures(steps: readonly StepReport[]): StepReport[] {
  return steps.flatMap((step) => [...(step.capture ? [step] : []), ...withCaptures(step.steps)]);
}

function fileName(text: string): string {
  return (
    text
      .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
      .replace(/^[.-]+/, '')
      .slice(0, 60) || 'unnamed'
  );
}

async function write(path: string, content: string | Buffer): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
}
