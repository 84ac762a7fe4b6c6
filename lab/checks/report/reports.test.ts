/** Reports of hostile consoles: valid XML, HTML without anything that acts, text without control characters. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { SaxesParser } from 'saxes';
import type { StepReport } from '../run/step-report.ts';
import { htmlReport } from './html.ts';
import { junitXml } from './junit.ts';
import { plainText } from './plain-text.ts';
import { summaryText } from './summary.ts';
import { type TestReport, verdictOf } from './test-report.ts';

const hostile = '\u001b[31m</pre><script>alert(1)</script>]]>&"\'\u0000\u0007\ud800\ufffe\u009b2J\r\nend';
const step: StepReport = {
  name: `ping ${hostile}`,
  verb: 'ping',
  node: 'A',
  outcome: 'failed',
  startMs: 10,
  durationMs: 100,
  problems: [hostile],
  evidence: hostile,
  tries: 2,
  steps: [],
};
const parts = {
  lab: hostile,
  seed: 7,
  startedAt: '2026-11-22T10:00:00.000Z',
  durationMs: 1000,
  ready: [{ node: hostile, isReady: true, text: hostile, durationMs: 5 }],
  steps: [step],
  certificate: { isFaithful: true, reasons: [], advice: undefined, links: [], computes: [], captures: [], failures: [] },
  failure: undefined,
  topology: { nodes: [{ name: hostile, kind: 'vpcs', x: 0, y: 0 }], links: [] },
  consoles: [{ node: hostile, entries: [{ atMs: 1, direction: 'received', text: hostile }] }],
} satisfies Omit<TestReport, 'verdict'>;
const report: TestReport = { ...parts, verdict: verdictOf(parts) };

it('JUnit XML is well-formed and counts its cases', () => {
  const xml = junitXml(report);
  const counts: string[] = [];
  const parser = new SaxesParser();
  parser.on('opentag', ({ name, attributes }) => counts.push(`${name} ${String(attributes.failures ?? '')}`.trim()));
  parser.write(xml).close();
  assert.deepEqual(counts.slice(0, 2), ['testsuites 1', 'testsuite 1']);
  assert.equal(counts.filter((one) => one === 'testcase').length, 3);
});

it('the HTML page has no markup of a console, and forbids scripts', () => {
  const html = htmlReport(report);
  assert.doesNotMatch(html, /<script/);
  assert.match(html, /&lt;script&gt;alert\(1\)&lt;\/script&gt;/);
  assert.match(html, /default-src 'none'/);
  assert.doesNotMatch(html, /(?:src|href)=/);
});

it('text for terminals has no control characters', () => {
  assert.equal(plainText('\u001b[31mred\u001b[0m\ra\u0007'), 'red\na\ufffd');
  assert.doesNotMatch(summaryText(report), /[^\P{Cc}\n]/u);
  assert.match(summaryText(report), /First failure: ping/);
});

it('a verdict is void when the emulation was not faithful, whatever the checks say', () => {
  const unfaithful = { ...parts.certificate, isFaithful: false, reasons: ['late'], advice: 'End other programs' };
  for (const write of [summaryText, htmlReport, junitXml])
    assert.match(write({ ...report, certificate: unfaithful }), /late.*End other programs/s);
  assert.equal(report.verdict, 'failed');
  assert.equal(verdictOf({ ...parts, steps: [{ ...step, outcome: 'passed' }] }), 'passed');
  assert.equal(verdictOf({ ...parts, steps: [{ ...step, outcome: 'skipped' }] }), 'failed');
  assert.equal(verdictOf({ ...parts, certificate: unfaithful }), 'void');
  assert.equal(verdictOf({ ...parts, certificate: undefined }), 'void');
  assert.equal(verdictOf({ ...parts, failure: 'the server was lost' }), 'void');
  assert.equal(
    verdictOf({ ...parts, certificate: undefined, ready: [{ node: 'A', isReady: false, text: '', durationMs: 1 }] }),
    'failed',
  );
});

it('the chance of a check is in each report', () => {
  const chance = {
    fails: 1 / 48,
    text: 'chance alone may explain this result (1 in 20); the check fails by chance 1 in 48',
    pValue: 0.05,
  };
  const lucky: TestReport = { ...report, steps: [{ ...step, chance }] };
  const xml = junitXml(lucky);
  new SaxesParser().write(xml).close();
  assert.match(xml, /<property name="fails_by_chance" value="0\.0208"\/><property name="p_value" value="0\.0500"\/>/);
  for (const text of [xml, htmlReport(lucky), summaryText(lucky)])
    assert.match(text, /chance alone may explain this result \(1 in 20\)/);
});
