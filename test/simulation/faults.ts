/** Deliberate faults: places of the program's source that are changed before it is loaded. The simulation must find each of them. */

export interface Fault {
  readonly name: string;
  /** Description of what the changed program does. */
  readonly says: string;
  /** Path below `src/`. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const decide = 'controller/reconcile/decide.ts';
const runs = 'controller/live/nodes/node-runs.ts';

export const faults: readonly Fault[] = [
  {
    name: 'no-sync',
    says: 'journals are written without a sync',
    file: 'lib/journal.ts',
    from: ' | constants.O_DSYNC',
    to: '',
  },
  {
    name: 'no-folder-sync',
    says: 'a file gets its name without a sync of the folder',
    file: 'lib/atomic-file.ts',
    from: '  await syncFolder(dirname(path));',
    to: '',
  },
  {
    name: 'guest-restarts',
    says: 'a node that its guest switched off is started again',
    file: decide,
    from: "if (!isThisRun || ending === 'lost' || ending === 'asked')",
    to: 'if (run)',
  },
  {
    name: 'lost-is-off',
    says: 'a node that was lost with its host is not started again',
    file: decide,
    from: "ending === 'lost' || ending === 'asked'",
    to: "ending === 'asked'",
  },
  {
    name: 'refused-stays',
    says: 'a start that was refused stays wanted',
    file: runs,
    from: "if (node.wanted !== before && verb === 'start' && !isUnknown)",
    to: 'if (false)',
  },
  {
    name: 'unknown-withdrawn',
    says: 'a stop or start without an answer is forgotten',
    file: runs,
    from: "if (run && !isSo) await this.want([node], run, 'client');",
    to: 'if (run && !isSo) { const { wanted } = node; node.wanted = { ...wanted, run, generation: wanted.generation + 1 }; }',
  },
  {
    name: 'close-keeps',
    says: 'the nodes of a project that was closed stay wanted',
    file: 'controller/projects/project-lifecycle.ts',
    from: "if (!stopped && !isForGood) await live.runs.wantNone('closed')",
    to: "if (false) await live.runs.wantNone('closed')",
  },
  {
    name: 'no-follow',
    says: 'a project that is opened is not followed',
    file: 'controller/projects/project.ts',
    from: 'if (this.liveNow) void this.resume(this.liveNow);',
    to: '',
  },
  {
    name: 'close-not-noted',
    says: 'that a project was closed is not noted',
    file: 'controller/projects/project.ts',
    from: "      .note(false)\n      .catch((error: unknown) => this.#environment.log.warn({ err: error }, 'the end",
    to: "      .note(true)\n      .catch((error: unknown) => this.#environment.log.warn({ err: error }, 'the end",
  },
  {
    name: 'no-pause',
    says: 'a start that has failed is tried again without a pause',
    file: 'controller/reconcile/reconciler.ts',
    from: 'const notBefore = performance.now() + waitAfter(isBusy ? soon : later, count);',
    to: 'const notBefore = performance.now() + 0 * waitAfter(isBusy ? soon : later, count);',
  },
  {
    name: 'close-unanswered',
    says: 'a close that a compute has not answered is not repeated',
    file: 'controller/live/compute-announcements.ts',
    from: 'notClosedOn(compute, project_id);',
    to: 'void notClosedOn;',
  },
  {
    name: 'believes-events',
    says: 'what is wanted is changed by an event alone, which may be old',
    file: 'controller/reconcile/reconciler.ts',
    from: "if (decision.do === 'want' && node.compute) await live.runs.list",
    to: 'if (false && node.compute) await live.runs.list',
  },
  {
    name: 'strays-stay',
    says: 'what a move has left behind stays on the compute of the controller',
    file: 'controller/projects/leftovers.ts',
    from: 'if (project?.isOpen) await',
    to: 'if (project?.isOpen && !compute.isLocal) await',
  },
  {
    name: 'unknown-stays',
    says: 'a node whose creation was cut off stays on its compute',
    file: 'controller/reconcile/strays.ts',
    from: 'if (!node) return kept.node_type !== undefined;',
    to: 'if (!node) return false;',
  },
  {
    name: 'opening-stays',
    says: 'a project whose opening was cut off stays open on the compute of the controller',
    file: 'controller/projects/compute-watch.ts',
    from: 'if (this.#local) void this.leftovers.look(this.#local);',
    to: '',
  },
  {
    name: 'old-answers',
    says: 'an answer counts although an event that came before it is newer',
    file: 'controller/live/nodes/open-node.ts',
    from: 'if (!isOutdated || looks === mostLooks) return state;',
    to: 'return isOutdated ? state : state;',
  },
  {
    name: 'move-unnoted',
    says: 'a live move is begun without a record of it',
    file: 'controller/relocation/live-move.ts',
    from: 'await noteMove(this.#live, this.#node, { from: this.#from.id, to: this.#to.id });',
    to: '',
  },
  {
    name: 'move-stays',
    says: 'a machine whose move was cut off is not continued where it was',
    file: 'controller/reconcile/pending-moves.ts',
    from: 'if (at === move.from) await stay(live, node);',
    to: 'void stay;',
  },
  {
    name: 'move-before-record',
    says: 'a machine is continued at its new compute before the log says that it runs there',
    file: 'controller/relocation/live-move.ts',
    from: 'await this.#decide(arriving, arrived);',
    to: "await arriving.act('resume', {});\n    await this.#decide(arriving, arrived);",
  },
];

/** @throws for a name that is none */
export function findFault(name: string): Fault {
  const found = faults.find((each) => each.name === name);
  if (!found) throw new Error(`There is no fault "${name}": ${faults.map((each) => each.name).join(', ')}`);
  return found;
}
