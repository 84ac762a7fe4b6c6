/** Texts of the page of the server. */
import { plural } from './figures.ts';

export const serverPage = {
  computes: 'Computes',
  doctor: (name: string) => `Doctor: ${name}`,
  noDoctor: 'This compute has no doctor.',
  findings: { good: 'Installed', note: 'Note', missing: 'Missing' },
  addCompute: 'Add compute',
  host: 'Host',
  port: 'Port',
  protocol: 'Protocol',
  user: 'User',
  password: 'Password',
  connected: 'Connected',
  notConnected: 'Not connected',
  cpu: 'Processor',
  memory: 'Memory',
  unknown: 'unknown',
  kinds: (count: number) => plural(count, 'kind of node', 'kinds of nodes'),
  askRemove: (name: string) => ({
    title: `Remove ${name}?`,
    text: 'Projects with nodes on it are closed. Its nodes and images stay on the compute.',
    yes: 'Remove',
  }),
  remove: 'Remove',
  running: 'Running nodes',
  nothingRuns: 'No running nodes.',
  versions: 'Versions',
  apiVersion: 'API version',
  licence: 'Licence',
  licenceText: 'Patchbay is free software under the Apache License, version 2.0: use, study, share and change it.',
  librariesText:
    'The page contains Preact, xterm.js, dagre, noble-hashes (MIT), d3-force (ISC), noVNC (MPL 2.0) and the font Inter (SIL OFL 1.1).',
} as const;
