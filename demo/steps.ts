/** The steps of the demo in order, one per row of the table. Each depends on the earlier ones. */

import type { Outcome } from './outcome.ts';
import type { Session } from './session.ts';
import { fork } from './steps-fork.ts';
import { dropEvery, frequencyDrop, latency, latencyMs, resume, suspend } from './steps-impair.ts';
import { hundredPcs, pcCount } from './steps-pcs.ts';
import { containers, routers } from './steps-routers.ts';
import { bootNodes, makeProject, pingPlain, pingThroughVm, startServer } from './steps-set-up.ts';
import { checkNodes, duplicate, killServer } from './steps-survive.ts';
import { bootBridgedPair, transfer } from './steps-transfer.ts';

/** A step of the demo, which makes one row of the table. */
export interface Step {
  readonly name: string;
  readonly run: (session: Session) => Promise<Outcome>;
  /** A step that is left out where this is missing. */
  readonly needs?: 'engine';
  /** Name of the step after which this one begins, beside those that stand between the two. */
  readonly after?: string;
  /** Begins what this step needs; called before the step named `beside`, which does not disturb it. */
  readonly prepare?: { readonly beside: string; readonly run: (session: Session) => Promise<void> };
}

const killed = 'kill -9 of the server under a ping';
const transferred = 'VM to VM, TCP';
const forked = 'fork the running lab';

/**
 * The lab of routers boots beside all steps that neither kill the server nor show a figure which its boot would spoil: the fork comes
 * when the routers have booted, and the containers beside their checks.
 */
export const steps: readonly Step[] = [
  { name: 'start a server', run: startServer },
  { name: 'make project, nodes, links', run: makeProject },
  { name: 'boot two VMs and a VPCS', run: bootNodes },
  { name: 'ping VM1 to VM2', run: pingPlain },
  { name: 'ping PC1 to VM1 through VM2', run: pingThroughVm },
  { name: killed, run: killServer },
  { name: 'nodes after the restart', run: checkNodes },
  { name: transferred, run: transfer, prepare: { beside: killed, run: bootBridgedPair } },
  { name: `latency ${latencyMs} ms`, run: latency },
  { name: `frequency_drop ${dropEvery}`, run: frequencyDrop },
  { name: 'suspend the link', run: suspend },
  { name: 'resume the link', run: resume },
  { name: `${pcCount} PCs`, run: hundredPcs },
  { name: 'duplicate the running project', run: duplicate },
  { name: forked, run: fork },
  { name: 'a lab file of routers', run: routers, after: transferred },
  { name: 'a lab file of containers', run: containers, needs: 'engine', after: forked },
];
