/** Joins names as in "Ann, Bob, or Eve". */
export const orList = (names: readonly string[]): string => new Intl.ListFormat('en', { type: 'disjunction' }).format(names);
