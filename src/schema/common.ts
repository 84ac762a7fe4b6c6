/** Parts that several schemas share. Source: the GNS3 2.2 v2 API. */
import { type TSchema, Type } from './type.ts';

export const Uuid = Type.String({
  pattern: '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$',
  description: 'UUID, 36 characters',
});
export const Mac = Type.String({ pattern: '^([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}$', description: 'MAC address, colon separated' });
export const TcpPort = Type.Integer({ minimum: 1, maximum: 65535 });
/** Longest name, path or text in a request, characters. A file's content is not a text in a request. */
export const maxTextLength = 4096;
/** Patterns match code points, not UTF-16 units: a surrogate in a pattern is an unpaired one. */
const wellFormed = '^[^\\u0000\\ud800-\\udfff]*$';
const ofGivenNames = '^[^\\p{Cc}\\p{Cs}]*$';
/** Text without NUL characters that can be written as UTF-8. */
export const Text = (options: object = {}) => Type.String({ maxLength: maxTextLength, pattern: wellFormed, ...options });
/** A longer text: notes for the users of a node, or a few lines of settings. */
export const LongText = (options: object = {}) => Text({ maxLength: 65_536, ...options });
export const Name = (options: object = {}) => Text({ minLength: 1, ...options });
/** A name from a user, without control characters and unpaired surrogates. Stored files with other names can still be read. */
export const GivenName = (options: object = {}) => Name({ pattern: ofGivenNames, ...options });
export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
/** A text that is one of `words`. */
export const oneOf = <const T extends readonly string[]>(words: T, options: object = {}) =>
  Type.Unsafe<T[number]>(Type.String({ enum: [...words], ...options }));
/** Options of an object that permits no other keys. */
export const strict = { additionalProperties: false } as const;
/** Options of an object that permits no other keys, with a title by which documents refer to it. */
export const named = (title: string) => ({ additionalProperties: false, title }) as const;

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
export function isUuid(text: string): boolean {
  return uuidPattern.test(text);
}

/** Relaxes a schema for stored files: older versions refused only NUL characters in texts. */
export function asStored<T extends TSchema>(schema: T): T {
  return JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
    key === 'pattern' && (value === wellFormed || value === ofGivenNames) ? '^[^\\u0000]*$' : value,
  ) as T;
}
