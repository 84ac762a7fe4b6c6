/** Texts of the notes, loaded with them. */
export const notesTexts = {
  title: 'Notes',
  close: 'Close the notes',
  edit: 'Edit',
  preview: 'Preview',
  text: 'Notes in Markdown',
  hint: 'Markdown: # heading, **bold**, - list. `PC1` and `PC1-SW1` show the node and the link; a block ```console PC1 has lines that a button types at the console of PC1.',
  empty: 'No notes yet. What is this lab about?',
  saved: 'Notes saved',
  missing: (name: string) => `This lab has no node ${name}.`,
  show: (name: string) => `Show ${name}`,
  run: (name: string) => `Run in ${name}`,
  start: (name: string) => `Start ${name}`,
  notRunning: (name: string) => `${name} is not running.`,
  noConsole: (name: string) => `${name} has no console for text.`,
  refused: {
    hidden: () => 'These lines are not offered: they have hidden characters.',
    long: ({ lines, characters }: { readonly lines: number; readonly characters: number }) =>
      `These lines are not offered: they are more than ${lines}, or longer than ${characters} characters.`,
  },
  changed: {
    title: 'Replace the changes of another user?',
    text: 'The notes were changed since you opened them. Your text replaces theirs.',
    yes: 'Replace',
  },
  checks: {
    check: 'Check',
    what: 'What is checked: lab.yaml of the project',
    ready: 'The checks run on the lab as it is now.',
    running: (done: number, total: number, name: string) =>
      total === 0 ? 'Checking…' : `Checking ${Math.min(done + 1, total)} of ${total}: ${name}`,
    passed: (passed: number, total: number) => `${passed} of ${total} steps hold.`,
    void: (passed: number, total: number) =>
      `${passed} of ${total} steps held, but the emulation was not faithful, so that this proves nothing. Check again.`,
    ended: 'The checks could not be completed.',
    problem: (name: string, problems: readonly string[]) => `${name}: ${problems.join('; ')}`,
    failed: (name: string) => `${name}: does not hold`,
  },
  binary: 'README.txt of this project is not text, or longer than 512 KiB.',
} as const;
