/** The editor of the lab's text: CodeMirror with YAML, errors at their line, and marks for the selection of the canvas. */
import { autocompletion, type CompletionSource, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { bracketMatching, foldGutter, foldKeymap, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { search, searchKeymap } from '@codemirror/search';
import { EditorState, Transaction } from '@codemirror/state';
import { EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import type { LabPlanReply } from '../../../src/schema/lab.ts';
import { labText } from '../../texts/lab-text.ts';
import { forLightTexts } from './heavy-text.ts';
import { firstMarked, idsAt, itemRanges, setItems, setMarked } from './item-ranges.ts';
import type { TextError } from './text-error.ts';

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], class: 'yaml-key' },
  { tag: [tags.string, tags.special(tags.string), tags.attributeValue], class: 'yaml-string' },
  { tag: [tags.comment, tags.lineComment], class: 'yaml-comment' },
  { tag: [tags.punctuation, tags.separator, tags.squareBracket, tags.brace], class: 'yaml-sign' },
  { tag: [tags.typeName, tags.labelName, tags.meta], class: 'yaml-meta' },
]);

interface EditorEvents {
  /** The user changed the text. */
  readonly onText: (text: string) => void;
  /** The user moved the cursor to lines of these items. */
  readonly onItems: (ids: readonly string[]) => void;
  readonly onApply: () => void;
  readonly onFocus: () => void;
}

export class LabEditor {
  readonly #view: EditorView;
  /** The user has changed the text that was shown last. */
  #isOwn = false;

  constructor(parent: HTMLElement, events: EditorEvents, complete: CompletionSource) {
    const apply = () => {
      events.onApply();
      return true;
    };
    this.#view = new EditorView({
      parent,
      state: EditorState.create({
        extensions: [
          [lineNumbers(), lintGutter(), highlightActiveLine()],
          [history(), EditorState.tabSize.of(2), search({ top: true }), autocompletion({ override: [complete] })],
          [forLightTexts([yaml(), syntaxHighlighting(colours), bracketMatching(), indentOnInput(), foldGutter()]), itemRanges],
          keymap.of([
            { key: 'Mod-Enter', run: apply },
            ...completionKeymap,
            ...lintKeymap,
            ...searchKeymap,
            ...historyKeymap,
            ...foldKeymap,
            ...defaultKeymap,
          ]),
          EditorView.contentAttributes.of({ 'aria-label': labText.editor, tabindex: '0' }),
          EditorView.domEventHandlers({ focus: () => events.onFocus() }),
          EditorView.updateListener.of(({ transactions, state, docChanged }) => {
            if (docChanged && transactions.some((one) => one.docChanged && isOfUser(one))) {
              this.#isOwn = true;
              events.onText(state.doc.toString());
            }
            if (!transactions.some((one) => (one.selection || one.docChanged) && isOfUser(one))) return;
            const ids = idsAt(state, state.selection.main.head);
            if (ids.length > 0) events.onItems(ids);
          }),
        ],
      }),
    });
  }

  end(): void {
    this.#view.destroy();
  }

  /**
   * Shows another text. Only the part that differs is replaced, so that the cursor and the marks stay. *Undo* in the editor returns to
   * a text that the user had written.
   */
  show(text: string): void {
    const now = this.text;
    if (now === text) return;
    this.#view.dispatch({ changes: difference(now, text), annotations: Transaction.addToHistory.of(this.#isOwn) });
    this.#isOwn = false;
  }

  get text(): string {
    return this.#view.state.doc.toString();
  }

  setItems(items: LabPlanReply['lines']): void {
    this.#view.dispatch({ effects: setItems.of(items) });
  }

  /** Marks the lines of these items; `scrolls`: to the first. @returns whether there are lines */
  mark(ids: ReadonlySet<string>, scrolls: boolean): boolean {
    this.#view.dispatch({ effects: setMarked.of(ids) });
    const first = firstMarked(this.#view.state);
    if (scrolls && first !== undefined)
      this.#view.dispatch({ effects: EditorView.scrollIntoView(first, { y: 'start', yMargin: 40 }) });
    return first !== undefined;
  }

  setError(error: TextError | undefined): void {
    const { state } = this.#view;
    const found =
      error?.line === undefined ? [] : [{ ...this.#rangeOf(error), severity: 'error' as const, message: error.message }];
    this.#view.dispatch(setDiagnostics(state, found));
  }

  /** Moves the cursor to the place of an error. */
  goTo(error: TextError): void {
    const { from } = this.#rangeOf(error);
    this.#view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: 'center' }) });
    this.#view.focus();
  }

  /** Returns the range from the column to the end of the line; an error at the end has the complete line. */
  #rangeOf({ line: number = 1, column = 1 }: TextError): { from: number; to: number } {
    const { doc } = this.#view.state;
    const line = doc.line(Math.max(1, Math.min(number, doc.lines)));
    const from = Math.min(line.from + column - 1, line.to);
    return from === line.to ? { from: line.from, to: line.to } : { from, to: line.to };
  }
}

const isOfUser = (transaction: Transaction) =>
  ['input', 'delete', 'move', 'select', 'undo', 'redo'].some((event) => transaction.isUserEvent(event));

/** The one change between two texts: they begin and end alike. */
function difference(before: string, after: string): { from: number; to: number; insert: string } {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before.charCodeAt(start) === after.charCodeAt(start)) start += 1;
  let end = 0;
  while (end < most - start && before.charCodeAt(before.length - 1 - end) === after.charCodeAt(after.length - 1 - end)) end += 1;
  return { from: start, to: before.length - end, insert: after.slice(start, after.length - end) };
}
