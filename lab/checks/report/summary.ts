/** Prints the report on a terminal: the verdict, and the first failure with its evidence. */
import { unlikely } from '../chance/packet-check.ts';
import type { Certificate } from '../fidelity/certificate.ts';
import { findFirstFailure, type StepReport } from '../run/step-report.ts';
import { plainText } from './plain-text.ts';
import type { TestReport } from './test-report.ts';

const marks = { passed: 'ok  ', failed: 'FAIL', error: 'ERR ', skipped: 'skip' } as const;
const evidenceLines = 20;

export function stepLine({ outcome, name, durationMs, tries, chance }: StepReport): string {
  const repeated = tries > 1 ? `, ${tries} tries` : '';
  const lucky = chance && (chance.fails === undefined || chance.fails > unlikely) ? `, ${chance.text}` : '';
  return `${marks[outcome]} ${plainText(name)} (${(durationMs / 1000).toFixed(1)} s${repeated}${lucky})`;
}

export function summaryText(report: TestReport): string {
  const { steps, ready, certificate, failure } = report;
  const passed = steps.filter(({ outcome }) => outcome === 'passed').length;
  const first = findFirstFailure(steps);
  return [
    ...(failure === undefined ? [] : [`The test was not completed: ${plainText(failure)}`]),
    ...ready.filter(({ isReady }) => !isReady).map(({ text }) => `Not ready: ${plainText(text)}`),
    ...(first ? firstFailureLines(first) : []),
    ...(certificate ? certificateLines(certificate) : []),
    `Verdict: ${report.verdict}. ${passed} of ${steps.length} checks hold, seed ${report.seed}, ${(report.durationMs / 1000).toFixed(1)} s`,
    '',
  ].join('\n');
}

function firstFailureLines({ name, problems, evidence, chance }: StepReport): string[] {
  const lines = plainText(evidence).trimEnd().split('\n');
  const left = lines.length - evidenceLines;
  return [
    '',
    `First failure: ${plainText(name)}`,
    ...problems.map((problem) => `  ${plainText(problem)}`),
    ...(chance ? [`  ${chance.text}`] : []),
    ...(evidence.trim() === '' ? [] : ['  Evidence:', ...lines.slice(0, evidenceLines).map((line) => `  | ${line}`)]),
    ...(left > 0 ? [`  | … ${left} more lines in the report`] : []),
    '',
  ];
}

function certificateLines({ isFaithful, reasons, advice, links, computes }: Certificate): string[] {
  if (!isFaithful)
    return [
      'The emulation was not faithful:',
      ...reasons.map((reason) => `  ${reason}`),
      ...(advice === undefined ? [] : [advice]),
    ];
  const worstDelay = Math.max(0, ...links.map(({ delayError }) => delayError.worst));
  const worstLoop = Math.max(0, ...computes.map(({ loopLate }) => loopLate.worst));
  const frames = links.reduce((sum, link) => sum + link.frames, 0);
  const held = links.some(({ delayError }) => delayError.count > 0) ? `held frames left at most ${worstDelay} ms late, ` : '';
  return [`The emulation was faithful: ${frames} frames, ${held}the fabric was at most ${worstLoop} ms late`];
}
