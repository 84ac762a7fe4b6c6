/** Looking into old files, whose parts may be of any type. */
export type Raw = Record<string, unknown>;

export function objects(value: unknown): Raw[] {
  return Array.isArray(value) ? value.filter((item): item is Raw => typeof item === 'object' && item !== null) : [];
}

export function object(value: unknown): Raw {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Raw) : {};
}

export function textOr<T>(value: unknown, standard: T): string | T {
  return typeof value === 'string' && value !== '' ? value : standard;
}

/** Truncated; old programs wrote floats. */
export function integerOr(value: unknown, standard: number): number {
  return typeof value === 'number' && Number.isFinite(value) ? Math.trunc(value) : standard;
}

export function escapeXml(text: string): string {
  const names: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
  return text.replace(/[&<>"']/g, (character) => names[character] ?? character);
}
