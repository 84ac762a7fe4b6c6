/** How emulators are confined on this machine with the default configuration: their namespaces and their user. */
import { namespaceObstacle } from '../emulators/host/confinement/namespaces.ts';
import { findRunAs } from '../emulators/host/run-as.ts';
import { kinds } from '../emulators/kinds.ts';
import type { Finding } from '../schema/finding.ts';
import { defaultSettings } from '../schema/settings.ts';

export async function lookAtConfinement(): Promise<Finding[]> {
  const [obstacle, user] = await Promise.all([namespaceObstacle(), describeUser()]);
  const namespaces: Finding =
    obstacle === undefined
      ? { state: 'good', what: 'namespaces', found: 'usable: VPCS is confined in network and mount namespaces' }
      : {
          state: 'note',
          what: 'namespaces',
          node_types: Object.values(kinds).flatMap(({ type, needsNamespaces }) => (needsNamespaces ? [type] : [])),
          found: `not usable, so VPCS starts only with confine = False in [VPCS]: ${obstacle}`,
        };
  return [namespaces, { state: 'good', what: 'user of emulators', found: user }];
}

async function describeUser(): Promise<string> {
  const runAs = await findRunAs(defaultSettings());
  if (runAs === undefined) return `the server's own (${process.geteuid?.() ?? 'unknown'})`;
  return `${runAs.user === runAs.uid ? `${runAs.uid}, which has no name` : runAs.user}; run_as in [Server] names another`;
}
