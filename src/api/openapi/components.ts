/** Turns schemas with a `title` into named components of the document, each once; users of a schema refer to its component. */
import { isDeepStrictEqual } from 'node:util';

export type Json = Record<string, unknown>;

/** Keywords whose values are data, not schemas. */
const dataKeywords = new Set(['const', 'default', 'enum', 'examples', 'required']);

export class Components {
  readonly schemas: Record<string, Json> = {};

  /**
   * Returns the schema with references instead of named schemas. @throws when two different schemas share a title, which is a bug
   */
  take(schema: object): Json {
    const copy: Json = {};
    for (const [key, value] of Object.entries(schema)) copy[key] = dataKeywords.has(key) ? value : this.#inner(value);
    const { title } = copy;
    if (typeof title !== 'string') return copy;
    const known = this.schemas[title];
    if (known && !isDeepStrictEqual(known, copy)) throw new Error(`two different schemas are called ${title}`);
    this.schemas[title] = copy;
    return { $ref: `#/components/schemas/${title}` };
  }

  #inner(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#inner(item));
    return typeof value === 'object' && value !== null ? this.take(value) : value;
  }
}
