/** Expands names with ranges: `PC[1-3]`, `R[1,4-6]`, `SW[01-12]`. */
import { LabError, type Place } from './lab-error.ts';

const mostNames = 5000;
const range = /^([^[\]]*)\[(\d{1,6}(?:-\d{1,6})?(?:,\d{1,6}(?:-\d{1,6})?)*)\]([^[\]]*)$/;

export interface RangedName {
  readonly name: string;
  /** Number in the range; 1 for a name without a range. */
  readonly index: number;
}

/** Expands a name. @throws LabError */
export function expandName(text: string, place?: Place): RangedName[] {
  const match = range.exec(text);
  if (!match) {
    if (/[[\]]/.test(text)) throw new LabError(`"${text.slice(0, 100)}" is not a range. Write NAME[1-3] or NAME[1,4-6]`, place);
    return [{ name: text, index: 1 }];
  }
  const [, before = '', list = '', after = ''] = match;
  const names: RangedName[] = [];
  for (const part of list.split(',')) {
    const [first = '', last = first] = part.split('-');
    if (Number(last) < Number(first)) throw new LabError(`the range ${part} is not ascending`, place);
    for (let number = Number(first); number <= Number(last); number++) {
      if (names.length >= mostNames) throw new LabError(`"${text.slice(0, 100)}" stands for more than ${mostNames} names`, place);
      names.push({ name: `${before}${String(number).padStart(first.length, '0')}${after}`, index: number });
    }
  }
  return names;
}
