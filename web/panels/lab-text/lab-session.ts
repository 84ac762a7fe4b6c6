/** The text of the open lab: what the lab is, what the user typed, the plan from one to the other, and how it is applied. */
import { batch, computed, effect, signal, untracked } from '@preact/signals';
import type { LabApplyLine, LabPlanReply } from '../../../src/schema/lab.ts';
import { ApiError } from '../../api.ts';
import type { App } from '../../state/app.ts';
import type { ProjectState } from '../../state/project.ts';
import { texts } from '../../texts.ts';
import { hasOwnWords } from './own-words.ts';
import { RepeatedTask } from './repeated-task.ts';
import { labFileName, type TextError, textErrorOf } from './text-error.ts';

/** Pause after a change of the lab, and after a key, until the server is asked. */
const readPauseMs = 400;
const planPauseMs = 350;
const keepPauseMs = 300;

/** Keys of the drafts: the typed text, and the lab's text from which it began. */
const draftKey = 'lab text';
const baseKey = 'lab text base';

/** A plan, and the text that it is of. */
interface PlannedText {
  readonly text: string;
  readonly reply: LabPlanReply;
}

export class LabSession {
  /** The lab's text from which the typed one began; undefined: it is not read yet. */
  readonly base = signal<string | undefined>(undefined);
  /** The lab's text now. */
  readonly latest = signal<string | undefined>(undefined);
  readonly typed = signal('');
  readonly plan = signal<PlannedText | undefined>(undefined);
  readonly error = signal<TextError | undefined>(undefined);
  /** Progress of an apply. */
  readonly progress = signal<{ readonly label: string; readonly part: number } | undefined>(undefined);
  readonly isEdited = computed(() => this.base.value !== undefined && this.typed.value !== this.base.value);
  /** The lab was changed since the text was edited. */
  readonly isBehind = computed(() => this.isEdited.value && this.latest.value !== this.base.value);
  readonly #app: App;
  readonly #project: ProjectState;
  readonly #reading = new RepeatedTask(() => this.#read(), readPauseMs);
  readonly #planning = new RepeatedTask(() => this.#makePlan(), planPauseMs);
  readonly #keeping = new RepeatedTask(async () => this.#keep(), keepPauseMs);
  readonly #stops: (() => void)[] = [];
  /** The last text that the server refused to apply. */
  #refused: { readonly text: string; readonly error: TextError } | undefined;

  constructor(app: App, project: ProjectState) {
    this.#app = app;
    this.#project = project;
    const { drafts } = project;
    const [typed, base] = [drafts.of(draftKey), drafts.of(baseKey)];
    if (typed !== undefined && base !== undefined) {
      this.typed.value = typed;
      this.base.value = base;
    }
    const keep = () => this.#keep();
    addEventListener('pagehide', keep);
    this.#stops.push(
      () => removeEventListener('pagehide', keep),
      effect(() => {
        // Every change of the lab is one of these.
        void [project.project.value, project.nodes.all.value, project.links.all.value, project.drawings.all.value];
        untracked(() => this.#reading.soon());
      }),
    );
    void this.#reading.now();
  }

  end(): void {
    this.#keep();
    for (const stop of this.#stops) stop();
    for (const task of [this.#reading, this.#planning, this.#keeping]) task.end();
  }

  /** Takes what the user typed. */
  type(text: string): void {
    if (text === this.typed.peek()) return;
    this.typed.value = text;
    this.#planning.soon(true);
    this.#keeping.soon();
  }

  /** Reads the lab once more: files of nodes change without an event. */
  readSoon(): void {
    this.#reading.soon();
  }

  /** Shows the lab's own text instead of the typed one. */
  discard(): void {
    this.#show(this.latest.peek() ?? '');
  }

  /** Brings the changes of the lab into the typed text. @returns whether no line was changed in both */
  async merge(): Promise<boolean> {
    const { mergeTexts } = await import('./merge-texts.ts');
    const [base = '', latest = ''] = [this.base.peek(), this.latest.peek()];
    const merged = mergeTexts(base, this.typed.peek(), latest);
    if (merged === undefined) return false;
    this.base.value = latest;
    this.typed.value = merged;
    this.#planning.soon();
    this.#keep();
    return true;
  }

  /** Applies the text to the lab. @throws the server's refusal */
  async apply(): Promise<void> {
    const text = this.typed.peek();
    let last: LabApplyLine = {};
    this.progress.value = { label: texts.lab.planning, part: 0 };
    const onLine = (line: LabApplyLine) => {
      last = line;
      const { step, done = 0, total = 0 } = line;
      if (step) this.progress.value = { label: texts.lab.progress(step, done, total), part: total > 0 ? done / total : 0 };
    };
    try {
      await this.#app.api.lines<LabApplyLine>('/v2/labs/apply', onLine, this.#body(text));
      if (last.project_id === undefined) throw new Error(last.failure);
      const now = await this.#readText();
      batch(() => {
        // Text that was typed meanwhile stays, and so does text that the lab itself cannot hold.
        if (this.typed.peek() === text && !hasOwnWords(text)) this.typed.value = now;
        this.base.value = now;
        this.latest.value = now;
      });
    } catch (error) {
      this.error.value = textErrorOf((error as Error).message);
      this.#refused = { text, error: this.error.value };
      throw error;
    } finally {
      this.progress.value = undefined;
      this.#keep();
      this.#planning.soon();
      this.#reading.soon();
    }
  }

  #body(text: string) {
    return { lab: text, file: labFileName, project: this.#project.id };
  }

  async #readText(): Promise<string> {
    return (await this.#app.api.download(`${this.#project.path}/lab.yaml`, () => undefined)).text();
  }

  async #read(): Promise<void> {
    // The lab changes step by step meanwhile.
    if (this.progress.peek() || this.#project.phase.peek() !== 'opened') return;
    try {
      const text = await this.#readText();
      if (this.progress.peek()) return;
      if (text !== this.latest.peek()) this.#planning.soon();
      batch(() => {
        this.latest.value = text;
        if (this.isEdited.peek() && this.typed.peek() !== text) return;
        this.base.value = text;
        this.typed.value = text;
      });
      this.#keep();
    } catch (error) {
      if (this.base.peek() === undefined) this.error.value = { message: (error as Error).message };
    }
  }

  #show(text: string): void {
    batch(() => {
      this.base.value = text;
      this.typed.value = text;
    });
    this.#keep();
    this.#planning.soon();
  }

  async #makePlan(): Promise<void> {
    const text = this.typed.peek();
    if (this.base.peek() === undefined || this.progress.peek()) return;
    const answer = await this.#app.api.post<LabPlanReply>('/v2/labs/plan', this.#body(text)).catch((error: Error) => error);
    if (text !== this.typed.peek()) return this.#planning.soon(true);
    batch(() => {
      const isFailure = answer instanceof Error;
      // A refusal stays as long as the text that was refused.
      const refusal = this.#refused?.text === text ? this.#refused.error : undefined;
      this.error.value = isFailure ? textErrorOf(answer.message) : refusal;
      // The last plan stays while the server does not answer.
      if (!isFailure) this.plan.value = { text, reply: answer };
      else if (answer instanceof ApiError && answer.status !== 0) this.plan.value = undefined;
    });
  }

  /** Keeps the typed text over a reload of the page. */
  #keep(): void {
    const { drafts } = this.#project;
    const isEdited = this.isEdited.peek();
    if (!isEdited && drafts.of(draftKey) === undefined) return;
    drafts.set(baseKey, isEdited ? this.base.peek() : undefined);
    drafts.set(draftKey, isEdited ? this.typed.peek() : undefined);
  }
}
