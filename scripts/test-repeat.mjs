/**
 * Repeats test files that failed among others, alone, and merges both runs into one. A browser and an emulated machine depend on how
 * busy the host is; a test of what the server keeps does not, and a second try would hide a loss: such files are never repeated.
 */

/** More failing files have a cause in common: the first failure is the answer. */
const mostRepeated = 4;

/**
 * The events of `run(files)`, an async iterable of node:test's events. When it ends with failures only in a few files that
 * `isRepeatable` accepts, those are run again: `test:repeat` with their names comes first, and the summary counts the second try.
 */
export async function* repeatFailed(files, { run, isRepeatable }) {
  const first = new Outcome();
  yield* first.collect(run(files, {}));
  const failed = [...first.failed];
  if (failed.length === 0 || failed.length > mostRepeated || !failed.every((file) => isRepeatable(file))) {
    yield first.summary;
    return;
  }
  yield { type: 'test:repeat', data: { files: failed } };
  const second = new Outcome();
  yield* second.collect(run(failed, { concurrency: 1 }));
  yield merged(first, second, failed);
}

class Outcome {
  failed = new Set();
  counts = new Map();
  summary;

  /** All events but the last, the summary of the whole run. */
  async *collect(events) {
    for await (const event of events) {
      const { type, data } = event;
      if (type === 'test:fail' && data.todo === undefined) this.failed.add(data.entryFile ?? data.file);
      if (type === 'test:summary' && data.file === undefined) {
        this.summary = event;
        continue;
      }
      if (type === 'test:summary') this.counts.set(data.file, data.counts);
      yield event;
    }
  }
}

/** `first` with what `second` counted in place of its counts of the repeated files. */
function merged(first, second, files) {
  const counts = { ...first.summary.data.counts };
  for (const name of Object.keys(counts)) {
    for (const file of files) counts[name] += (second.counts.get(file)?.[name] ?? 0) - (first.counts.get(file)?.[name] ?? 0);
  }
  const duration_ms = first.summary.data.duration_ms + second.summary.data.duration_ms;
  const success = second.failed.size === 0 && second.summary.data.success;
  return { type: 'test:summary', data: { ...first.summary.data, counts, duration_ms, success } };
}
