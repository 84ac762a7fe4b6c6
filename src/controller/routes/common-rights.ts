/** Rights that several routes of both generations share. */
import { randomUUID } from 'node:crypto';
import { fault } from '../../api/faults.ts';
import { type FixedRight, isAdministrator, type Need, requirePrivilege } from '../../api/rights.ts';
import type { Call, Method } from '../../api/route.ts';
import type { KnownProject } from '../projects/project.ts';

/** Right to change any part of a project. */
export const anyChange: readonly Need[] = [
  'Project.Modify',
  'Node.Allocate',
  'Node.Modify',
  'Link.Allocate',
  'Link.Modify',
  'Drawing.Allocate',
  'Drawing.Modify',
];

/** Right to copy a project: the copy joins its pools. */
export const copyRight: readonly Need[] = ['Project.Audit', 'Project.Allocate /copies/{project_id}'];

/**
 * Makes a copy of a project, which joins its pools: an id that was chosen here before there is one, so that no one sees it who may not.
 */
export async function makeCopy<T>(
  { caller }: { readonly caller?: Call['caller'] },
  { of, given }: { readonly of: string; readonly given: string | null | undefined },
  make: (id: string) => Promise<T>,
): Promise<T> {
  if (given) {
    const made = await make(given);
    await caller?.joinPools?.(of, given);
    return made;
  }
  const id = randomUUID();
  const leave = await caller?.joinPools?.(of, id);
  return make(id).catch(async (error: unknown) => {
    await leave?.();
    throw error;
  });
}

/** Checks that an account may see the project that a request answers with. @throws forbidden */
export function requireVisible(call: Pick<Call, 'caller'>, project: KnownProject | undefined): void {
  if (project) requirePrivilege(call, 'Project.Audit', `/projects/${project.id}`);
}

/** Checks a folder of the host that a request names: it may be one of another account's projects. @throws administrator_needed */
export function requireHostAccess({ caller }: Pick<Call, 'caller'>, path: string | null | undefined): void {
  if (path && caller && !isAdministrator(caller)) throw fault('administrator_needed', {});
}

/** Requests to a compute that clients send when they show templates and nodes; they reveal nothing of a project. */
const shown = /^(?:binaries|img-binaries|capabilities|interfaces|vms|images)$/;
const imagePath = /^images\/[^%\\]+$/;

/**
 * Returns the right of a request that is forwarded to a compute. Its images have privileges; what else a compute answers is not divided by
 * accounts, so it is for administrators.
 */
export function forwardedRight(method: Method): (params: Readonly<Record<string, string>>) => FixedRight {
  return ({ emulator = '', action = '', endpoint_path = action }) => {
    if (!/^\w+$/.test(emulator) || emulator === 'projects') return 'administrator';
    if (method === 'GET' && shown.test(endpoint_path)) return endpoint_path === 'images' ? 'Image.Audit /images' : 'Compute.Audit';
    if (imagePath.test(endpoint_path)) return method === 'GET' ? 'Image.Audit /images' : 'Image.Allocate /images';
    return 'administrator';
  };
}
