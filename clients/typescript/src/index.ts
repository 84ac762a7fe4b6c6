/** Client of Patchbay. */
export { Api, PatchbayError, type ServerAddress } from './api.ts';
export { type Expected, NodeConsole } from './console.ts';
export type * from './generated.ts';
export { type Impairments, type LabFile, LabLink, LabNode, type LabProgress, LabProject, Patchbay } from './patchbay.ts';
export { TimeoutError, type WaitOptions, waitUntil } from './wait-until.ts';
