/** Texts of the lab as text. */
import { plural } from './figures.ts';

export const labText = {
  editor: 'The lab as YAML. F8 goes to the error, Ctrl Enter applies',
  reading: 'Reading the lab…',
  same: 'As the lab is now. It follows every change.',
  kept: 'The lab is as the text says. The text stays as you wrote it: a lab keeps no comments, checks, defaults and variables.',
  checking: 'Comparing with the lab…',
  behind: 'The lab was changed since. Your text is kept; the plan shows what it would revert.',
  line: (line: number) => `Line ${line}`,
  apply: 'Apply',
  applied: 'The lab is as the text says. Undo returns to the lab before.',
  discard: 'Discard edits',
  merge: 'Take the changes in',
  conflict: 'The same lines were changed in the lab and in your text. Discard one of them, or copy yours first.',
  copy: 'Copy the text',
  copied: 'The text was copied.',
  notCopied: 'The browser did not copy it: select the text, and press Ctrl C.',
  download: 'Download the text',
  close: 'Close the text',
  plan: (steps: number) => `The plan: ${plural(steps, 'change', 'changes')}`,
  askLoss: (names: string) => ({
    title: 'Delete nodes?',
    text: `Files and disks of ${names} are deleted. Undo makes the nodes again; a running one loses its memory.`,
    yes: 'Apply',
  }),
} as const;
