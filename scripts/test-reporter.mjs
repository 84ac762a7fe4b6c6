/**
 * The output of a test run: a line per file (tests, time), each failure as it happens and once more at the end, every skip with its reason, a
 * table of the files that take longest, the longest tests, the totals.
 */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { inspect } from 'node:util';

const shown = { tests: 5, files: 30, failures: 4, lines: 30, columns: 400 };

/**
 * `usageFile`: lines of file, tab, processor seconds, which test processes write at their end. `timesFile`: gets the table of all files.
 */
export default async function* report(source, { usageFile, timesFile } = {}) {
  const failures = [];
  const skips = new Map();
  const reasons = new Map();
  const slow = [];
  const files = [];
  for await (const { type, data } of source) {
    if (type === 'test:stdout' || type === 'test:stderr') yield data.message;
    if (type === 'test:pass' && data.skip !== undefined) addReason(reasons, data);
    if (type === 'test:pass' && data.details.type !== 'suite') {
      if (data.skip !== undefined) count(skips, typeof data.skip === 'string' ? data.skip : '(no reason given)');
      else slow.push(data);
    }
    if (type === 'test:fail' && !isEcho(data)) {
      failures.push(data);
      yield `\n✖ ${where(data)}\n${indent(causeOf(data))}\n`;
    }
    if (type === 'test:summary' && data.file) {
      files.push(data);
      yield fileLine(data, reasons.get(data.file));
    }
    if (type === 'test:summary' && !data.file)
      yield ending({ data, failures, skips, slow, times: await timesOf(files, usageFile, timesFile) });
  }
}

/** The failure of a suite or file merely repeats the failure of a test in it. */
function isEcho(data) {
  return data.details.error?.failureType === 'subtestsFailed';
}

function addReason(reasons, { file, entryFile = file, skip }) {
  const found = reasons.get(entryFile) ?? reasons.set(entryFile, new Set()).get(entryFile);
  found.add(typeof skip === 'string' ? skip : 'no reason given');
}

/** A file of which no test ran is marked as skipped, with its reasons. */
function fileLine({ file, counts, duration_ms, success }, reasons = new Set(['it has no test that was selected'])) {
  if (success && counts.tests === counts.skipped) return `– ${relative(file)} (skipped: ${[...reasons].join('; ')})\n`;
  const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : '';
  return `${success ? '✔' : '✖'} ${relative(file)} (${counts.tests}${skipped}, ${seconds(duration_ms)})\n`;
}

/** Seconds of each file, longest first: `all`, those of its processes (`processor`), and the rest (`waiting`). */
async function timesOf(files, usageFile, timesFile) {
  const used = new Map();
  const text = usageFile ? await readFile(usageFile, 'utf8').catch(() => '') : '';
  for (const line of text.split('\n').filter(Boolean)) {
    const [file, value] = line.split('\t');
    used.set(file, (used.get(file) ?? 0) + Number(value));
  }
  const rows = files.map(({ file, duration_ms }) => {
    const processor = used.get(file);
    const all = duration_ms / 1000;
    return { file: relative(file), all, processor, waiting: processor === undefined ? undefined : Math.max(0, all - processor) };
  });
  rows.sort((a, b) => b.all - a.all);
  const cells = rows.map(({ file, all, waiting, processor }) => [file, all.toFixed(1), oneDigit(waiting), oneDigit(processor)]);
  if (timesFile)
    await writeFile(
      timesFile,
      `${[['file', 'seconds', 'waiting', 'processor'], ...cells].map((row) => row.join('\t')).join('\n')}\n`,
    );
  return rows;
}

/** Processes that outlive their parents, as emulators do, are not counted. */
function timeTable(rows) {
  const head = `${'seconds'.padStart(9)}${'waiting'.padStart(9)}${'processor'.padStart(11)}  file`;
  const line = ({ file, all, waiting, processor }) =>
    `${all.toFixed(1).padStart(9)}${oneDigit(waiting).padStart(9)}${oneDigit(processor).padStart(11)}  ${file}`;
  const sum = (key) => rows.reduce((total, row) => total + (row[key] ?? 0), 0);
  const total = { file: `all ${rows.length} files`, all: sum('all'), waiting: sum('waiting'), processor: sum('processor') };
  return [head, ...rows.slice(0, shown.files).map(line), line(total)];
}

const oneDigit = (value) => (value === undefined ? '–' : value.toFixed(1));

function ending({ data, failures, skips, slow, times }) {
  const lines = [''];
  for (const [reason, count] of skips) lines.push(`skipped ${count}: ${reason}`);
  if (times.length > 1)
    lines.push(...timeTable(times), `the processors of this machine were busy for ${Math.round(data.busy * 100)} % of the time`);
  const slowest = slow.sort((a, b) => b.details.duration_ms - a.details.duration_ms).slice(0, shown.tests);
  for (const test of slowest) lines.push(`slow    ${seconds(test.details.duration_ms).padStart(7)}  ${where(test)}`);
  for (const [index, failure] of failures.entries()) {
    const [first, ...more] = causeOf(failure).split('\n');
    lines.push(`failed  ${where(failure)}: ${first}`);
    // A record that keeps only the end of the output has the circumstances, too.
    if (index < shown.failures) lines.push(...more.slice(0, shown.lines).map((line) => indent(line.slice(0, shown.columns))));
  }
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
/** A module made for this run (`test-shared.mjs`) is called by its name alone. */
const relative = (file) => (file ? path.relative(process.cwd(), file).replace(/^\.cache\/tests-run-[^/]*\//, '') : '');
const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;
const indent = (text) => text.replace(/^/gm, '    ');
const count = (map, key) => map.set(key, (map.get(key) ?? 0) + 1);
