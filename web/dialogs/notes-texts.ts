/** Texts of the notes, loaded with them. */
export const notesTexts = {
  title: 'Notes',
  edit: 'Edit',
  preview: 'Preview',
  text: 'Notes in Markdown',
  hint: 'Markdown: # heading, **bold**, - list, `code`. [Core](#Core) links to the node Core.',
  empty: 'No notes yet. What is this lab about?',
  saved: 'Notes saved',
  missing: (name: string) => `There is no node named ${name}.`,
  changed: {
    title: 'Replace the changes of another user?',
    text: 'The notes were changed since you opened them. Your text replaces theirs.',
    yes: 'Replace',
  },
  binary: 'README.txt of this project is not text, or longer than 512 KiB.',
} as const;
