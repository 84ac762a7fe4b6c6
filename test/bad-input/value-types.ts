/** Short names of field types. */
import type { Sort } from './wrong-values.ts';

export const text: Sort = { is: 'text' };
export const name: Sort = { is: 'name' };
export const uuid: Sort = { is: 'uuid' };
export const flag: Sort = { is: 'flag' };
export const object: Sort = { is: 'object' };
export const list: Sort = { is: 'list' };
export const word: Sort = { is: 'word' };
export const integer: Sort = { is: 'integer' };
export const port: Sort = { is: 'integer', minimum: 1, maximum: 65535 };
export const orNull = (sort: Sort): Sort => ({ ...sort, nullable: true });
export const prefixed = (prefix: string, fields: Record<string, Sort>) =>
  Object.fromEntries(Object.entries(fields).map(([key, sort]) => [`${prefix}.${key}`, sort]));
export const customFields = (custom: Record<string, Sort>) =>
  Object.fromEntries(Object.entries(custom).map(([key, sort]) => [`custom_adapters${key}`, sort]));
