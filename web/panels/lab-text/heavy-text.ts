/** Texts that take the parser of the editor too long: they are shown without colours. The server parses each text in a thread. */
import { Compartment, EditorState, type Extension, type Text } from '@codemirror/state';

const mostCharacters = 200_000;
/** Open brackets, and leading blanks of a line: both nest. */
const mostDepth = 200;

export function isHeavy(doc: Text): boolean {
  if (doc.length > mostCharacters) return true;
  let depth = 0;
  for (const part of doc.iter()) {
    if (/^ {400}/.test(part)) return true;
    for (const character of part) {
      if (character === '[' || character === '{') depth += 1;
      else if (character === ']' || character === '}') depth = Math.max(0, depth - 1);
      if (depth > mostDepth) return true;
    }
  }
  return false;
}

/** Uses an extension while the text is not heavy. */
export function forLightTexts(extension: Extension): Extension {
  const place = new Compartment();
  return [
    place.of(extension),
    EditorState.transactionExtender.of(({ docChanged, startState, newDoc }) => {
      if (!docChanged) return null;
      const isOff = isHeavy(newDoc);
      const wasOff = isHeavy(startState.doc);
      return isOff === wasOff ? null : { effects: place.reconfigure(isOff ? [] : extension) };
    }),
  ];
}
