/** A word for sh(1), whatever characters it has. @see POSIX.1-2017, Shell Command Language, 2.2.2 Single-Quotes */
export function quoteWord(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

export function quoteWords(words: readonly string[]): string {
  return words.map(quoteWord).join(' ');
}
