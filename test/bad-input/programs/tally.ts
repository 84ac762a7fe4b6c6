/** Counts what programs did, from the lines that a `Player` writes. */
import { troubles } from './program.ts';

export class Tally {
  #programs = 0;
  #refused = 0;
  #unanswered = 0;
  readonly #requests = new Map<string, number>();
  readonly #troubles = new Map<string, number>();

  add(lines: readonly string[]): void {
    this.#programs += 1;
    for (const line of lines) {
      const [, request] = /^curl .* # \d+ (\w+)$/s.exec(line) ?? [];
      const [, trouble = ''] = /^# (\w+)$/.exec(line) ?? [];
      const [, answer] = /^# \d+: (\d{3}|no answer)/.exec(line) ?? [];
      if (request !== undefined) count(this.#requests, request);
      else if (Object.hasOwn(troubles, trouble)) count(this.#troubles, trouble);
      else if (answer === 'no answer') this.#unanswered += 1;
      else if (Number(answer) >= 400) this.#refused += 1;
    }
  }

  toString(): string {
    const answers = `${this.#refused} refused, ${this.#unanswered} without an answer`;
    return `${this.#programs} programs: ${sum(this.#requests)} requests (${answers}) and ${sum(this.#troubles)} troubles\n${shown(this.#requests)}\n${shown(this.#troubles)}`;
  }
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

const sum = (counts: ReadonlyMap<string, number>) => [...counts.values()].reduce((all, each) => all + each, 0);
const shown = (counts: ReadonlyMap<string, number>) =>
  [...counts]
    .sort(([, one], [, other]) => other - one)
    .map(([name, each]) => `${name} ${each}`)
    .join(', ');
