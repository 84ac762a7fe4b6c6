/** Says that a node has another port or address than was wanted for it; null: it has none. */
export function unmetWish(name: string, what: string, wanted: unknown, given: unknown): string {
  const has = given === null || given === undefined ? 'none' : String(given);
  return `${name} did not get the ${what} ${wanted}: it has ${has}. It is in use, or outside of the range that the compute gives out`;
}
