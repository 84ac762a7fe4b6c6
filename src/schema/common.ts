/** Pieces that several schemas are made of. Source: the GNS3 2.2 v2 API. */
import { type TSchema, Type } from './type.ts';

export const Uuid = Type.String({
  pattern: '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$',
  description: 'UUID, 36 characters',
});
export const Mac = Type.String({ pattern: '^([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}$', description: 'MAC address, colon separated' });
export const TcpPort = Type.Integer({ minimum: 1, maximum: 65535 });
/** No name, path or text in a request may be longer; a file's content is not text in a request. */
export const maxTextLength = 4096;
/** Patterns are matched by characters, not by UTF-16 units: a surrogate in them is one that stands alone. */
const wellFormed = '^[^\\u0000\\ud800-\\udfff]*$';
const ofGivenNames = '^[^\\p{Cc}\\p{Cs}]*$';
/** Text without NUL characters that can be written as UTF-8. */
export const Text = (options: object = {}) => Type.String({ maxLength: maxTextLength, pattern: wellFormed, ...options });
/** Notes for the users of a node, or a few lines of settings: longer than a name. */
export const LongText = (options: object = {}) => Text({ maxLength: 65_536, ...options });
export const Name = (options: object = {}) => Text({ minLength: 1, ...options });
/** A name that a user gives: without control characters and halves of characters. Files that have others are read all the same. */
export const GivenName = (options: object = {}) => Name({ pattern: ofGivenNames, ...options });
export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
/** One of the given words. */
export const oneOf = <const T extends readonly string[]>(words: T, options: object = {}) =>
  Type.Unsafe<T[number]>(Type.String({ enum: [...words], ...options }));
/** An object that takes no other keys. */
export const strict = { additionalProperties: false } as const;
/** The same with a name, by which documents refer to it. */
export const named = (title: string) => ({ additionalProperties: false, title }) as const;

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
export function isUuid(text: string): boolean {
  return uuidPattern.test(text);
}

/** A schema as it was when files were written that are read now: of text, only NUL characters were refused. */
export function asStored<T extends TSchema>(schema: T): T {
  return JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
    key === 'pattern' && (value === wellFormed || value === ofGivenNames) ? '^[^\\u0000]*$' : value,
  ) as T;
}
