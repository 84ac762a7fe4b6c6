/** Finds JSON in the output of a console. */
import type { JSONPathQuery } from 'json-p3';

export type JsonValue = Parameters<JSONPathQuery['query']>[0];

/** Parses the document; consoles may show lines before and after it. */
export function parseJsonOutput(output: string): { json: JsonValue } | undefined {
  const start = output.search(/[[{]/);
  const end = Math.max(output.lastIndexOf('}'), output.lastIndexOf(']'));
  for (const text of [output, start < 0 ? '' : output.slice(start, end + 1)]) {
    try {
      return { json: JSON.parse(text) as JsonValue };
    } catch {
      // The text may hold JSON in another form, which is tried next.
    }
  }
  return undefined;
}
