/**
 * Writes the report as JUnit XML for Jenkins, GitLab and GitHub Actions: a test case for each node, each check and the certificate.
 */
import type { StepReport } from '../run/step-report.ts';
import { escapeMarkup } from './plain-text.ts';
import type { TestReport } from './test-report.ts';

interface TestCase {
  readonly group: string;
  readonly name: string;
  readonly durationMs: number;
  readonly outcome: StepReport['outcome'];
  readonly message: string;
  readonly text: string;
  readonly chance?: StepReport['chance'];
}

export function junitXml(report: TestReport): string {
  const cases = [...readyCases(report), ...report.steps.map(stepCase), certificateCase(report)];
  const count = (outcome: TestCase['outcome']) => cases.filter((one) => one.outcome === outcome).length;
  const counts = `tests="${cases.length}" failures="${count('failed')}" errors="${count('error')}" skipped="${count('skipped')}"`;
  const time = `time="${seconds(report.durationMs)}"`;
  const name = `name="${escapeMarkup(report.lab)}"`;
  const properties = [
    ['verdict', report.verdict],
    ['seed', String(report.seed)],
  ].map(([key = '', value = '']) => `      <property name="${key}" value="${escapeMarkup(value)}"/>`);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${name} ${counts} ${time}>`,
    `  <testsuite ${name} ${counts} ${time} timestamp="${report.startedAt.replace(/\.\d+Z$/, '')}">`,
    '    <properties>',
    ...properties,
    '    </properties>',
    ...cases.map((one) => caseXml(report.lab, one)),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function readyCases({ ready }: TestReport): TestCase[] {
  return ready.map(({ node, isReady, text, durationMs }) => ({
    group: 'ready',
    name: `${node} is ready`,
    durationMs,
    outcome: isReady ? 'passed' : 'failed',
    message: isReady ? '' : text,
    text: isReady ? text : '',
  }));
}

function stepCase({ name, outcome, durationMs, problems, evidence, chance }: StepReport, index: number): TestCase {
  const message = [...problems, ...(chance && outcome === 'failed' ? [chance.text] : [])].join('; ');
  return { group: 'checks', name: `${index + 1}. ${name}`, durationMs, outcome, message, text: evidence, chance };
}

function certificateCase({ certificate, failure }: TestReport): TestCase {
  const reasons = [...(failure === undefined ? [] : [failure]), ...(certificate?.reasons ?? [])];
  const outcome = reasons.length > 0 ? 'error' : certificate ? 'passed' : 'skipped';
  const message = reasons.join('; ');
  return {
    group: 'fidelity',
    name: 'the emulation was faithful',
    durationMs: 0,
    outcome,
    message,
    text: certificate?.advice ?? '',
  };
}

function caseXml(lab: string, { group, name, durationMs, outcome, message, text, chance }: TestCase): string {
  const head = `    <testcase classname="${escapeMarkup(`${lab}.${group}`)}" name="${escapeMarkup(name)}" time="${seconds(durationMs)}"`;
  const properties = Object.entries({ fails_by_chance: chance?.fails, p_value: chance?.pValue }).flatMap(([key, value]) =>
    value === undefined ? [] : [`<property name="${key}" value="${value.toPrecision(3)}"/>`],
  );
  const facts = properties.length === 0 ? '' : `<properties>${properties.join('')}</properties>`;
  const output = `${facts}${text === '' ? '' : `<system-out>${escapeMarkup(text)}</system-out>`}`;
  if (outcome === 'skipped') return `${head}><skipped/></testcase>`;
  if (outcome === 'passed') return output === '' ? `${head}/>` : `${head}>${output}</testcase>`;
  const tag = outcome === 'failed' ? 'failure' : 'error';
  return `${head}>${facts}<${tag} message="${escapeMarkup(message)}">${escapeMarkup(message)}</${tag}>${output.slice(facts.length)}</testcase>`;
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}
