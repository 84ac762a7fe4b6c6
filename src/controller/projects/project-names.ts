interface Named {
  readonly name: string;
}

/** Names of the known projects: of 10,000 projects none is looked at to tell whether a name is free. Projects found on a disk may share one. */
export class ProjectNames<T extends Named> {
  readonly #names = new Map<T, string>();
  readonly #uses = new Map<string, number>();

  has(name: string): boolean {
    return this.#uses.has(name);
  }

  /** Notes the name that a project has now. */
  note(project: T): void {
    if (this.#names.get(project) === project.name) return;
    this.forget(project);
    this.#names.set(project, project.name);
    this.#uses.set(project.name, (this.#uses.get(project.name) ?? 0) + 1);
  }

  forget(project: T): void {
    const name = this.#names.get(project);
    if (name === undefined) return;
    this.#names.delete(project);
    const others = (this.#uses.get(name) ?? 0) - 1;
    if (others > 0) this.#uses.set(name, others);
    else this.#uses.delete(name);
  }
}
