/**
 * The output of a test run: a line per file (tests, time), each failure as it happens and once more at the end (those of a repeated file apart), every skip with
 * its reason, the longest files and tests, the totals.
 */
import path from 'node:path';
import { inspect } from 'node:util';

const shown = { tests: 5, files: 10 };

export default async function* report(source) {
  let failures = [];
  let unsteady = [];
  const skips = new Map();
  const slow = [];
  const files = [];
  for await (const { type, data } of source) {
    if (type === 'test:stdout' || type === 'test:stderr') yield data.message;
    if (type === 'test:pass' && data.details.type !== 'suite') {
      if (data.skip !== undefined) count(skips, typeof data.skip === 'string' ? data.skip : '(no reason given)');
      else slow.push(data);
    }
    if (type === 'test:fail' && !isEcho(data)) {
      failures.push(data);
      yield `\n✖ ${where(data)}\n${indent(causeOf(data))}\n`;
    }
    if (type === 'test:repeat') {
      [unsteady, failures] = [failures, []];
      yield `\nonce more, alone: ${data.files.map(relative).join(', ')}\n`;
    }
    if (type === 'test:summary' && data.file) {
      files.push(data);
      yield fileLine(data);
    }
    if (type === 'test:summary' && !data.file) yield ending({ data, failures, unsteady, skips, slow, files });
  }
}

/** The failure of a suite or file merely repeats the failure of a test in it. */
function isEcho(data) {
  return data.details.error?.failureType === 'subtestsFailed';
}

function fileLine({ file, counts, duration_ms, success }) {
  const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : '';
  return `${success ? '✔' : '✖'} ${relative(file)} (${counts.tests}${skipped}, ${seconds(duration_ms)})\n`;
}

function ending({ data, failures, unsteady, skips, slow, files }) {
  const lines = [''];
  for (const [reason, times] of skips) lines.push(`skipped ${times}: ${reason}`);
  if (files.length > 1) {
    const longest = files.sort((a, b) => b.duration_ms - a.duration_ms).slice(0, shown.files);
    for (const { file, duration_ms } of longest) lines.push(`long    ${seconds(duration_ms).padStart(7)}  ${relative(file)}`);
  }
  const slowest = slow.sort((a, b) => b.details.duration_ms - a.details.duration_ms).slice(0, shown.tests);
  for (const test of slowest) lines.push(`slow    ${seconds(test.details.duration_ms).padStart(7)}  ${where(test)}`);
  for (const failure of unsteady) lines.push(`first try failed  ${where(failure)}: ${firstLine(causeOf(failure))}`);
  for (const failure of failures) lines.push(`failed  ${where(failure)}: ${firstLine(causeOf(failure))}`);
  const { tests, suites, passed, cancelled, skipped, todo } = data.counts;
  // Counts every failure shown, including a file that could not be loaded.
  const totals = { tests, suites, pass: passed, fail: failures.length, cancelled, skipped, todo, duration_ms: data.duration_ms };
  // The format of Node's own reporters: programs that read test results parse these lines.
  for (const [name, value] of Object.entries(totals)) lines.push(`ℹ ${name} ${value}`);
  return `${lines.join('\n')}\n`;
}

/** The stack without the frames of Node's own test runner. */
function causeOf({ details: { error } }) {
  const cause = error?.cause ?? error;
  if (typeof cause === 'string') return error.exitCode === undefined ? cause : `${cause}: exit code ${error.exitCode}`;
  return (cause?.stack ?? inspect(cause)).replace(/\n +at .*node:internal.*/g, '');
}

const where = (data) => `${relative(data.file)}:${data.line ?? 0} ${data.name}`;
const relative = (file) => (file ? path.relative(process.cwd(), file) : '');
const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;
const indent = (text) => text.replace(/^/gm, '    ');
const firstLine = (text) => text.split('\n')[0];
const count = (map, key) => map.set(key, (map.get(key) ?? 0) + 1);
