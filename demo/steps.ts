/** The steps of the demo in order, one per row of the table. Each depends on the earlier ones. */

import type { Outcome } from './outcome.ts';
import type { Session } from './session.ts';
import { fork } from './steps-fork.ts';
import { dropEvery, frequencyDrop, latency, latencyMs, resume, suspend } from './steps-impair.ts';
import { hundredPcs, pcCount } from './steps-pcs.ts';
import { containers, routers } from './steps-routers.ts';
import { bootNodes, makeProject, pingPlain, pingThroughVm, startServer } from './steps-set-up.ts';
import { checkNodes, duplicate, killServer } from './steps-survive.ts';
import { transfer } from './steps-transfer.ts';

/** `needs`: a step that is left out where this is missing. */
export const steps: readonly [name: string, run: (session: Session) => Promise<Outcome>, needs?: 'engine'][] = [
  ['start a server', startServer],
  ['make project, nodes, links', makeProject],
  ['boot two VMs and a VPCS', bootNodes],
  ['ping VM1 to VM2', pingPlain],
  ['ping PC1 to VM1 through VM2', pingThroughVm],
  ['VM to VM, TCP', transfer],
  [`latency ${latencyMs} ms`, latency],
  [`frequency_drop ${dropEvery}`, frequencyDrop],
  ['suspend the link', suspend],
  ['resume the link', resume],
  ['kill -9 of the server under a ping', killServer],
  ['nodes after the restart', checkNodes],
  ['duplicate the running project', duplicate],
  ['fork the running lab', fork],
  [`${pcCount} PCs`, hundredPcs],
  ['a lab file of routers', routers],
  ['a lab file of containers', containers, 'engine'],
];
