/** Says why the account may not do something that the page did not request, because the server would refuse it. */
import type { Privilege } from '../../src/schema/privilege.ts';
import { explainRefusal } from '../api.ts';
import type { App } from './app.ts';

/** Requests that need a privilege, by whose explanation it is explained. The path of a project, without one, comes before. */
const requests: Partial<Readonly<Record<Privilege, readonly [method: string, path: string]>>> = {
  'Node.Allocate': ['POST', '/nodes'],
  'Node.Modify': ['PUT', '/nodes/x'],
  'Node.PowerMgmt': ['POST', '/nodes/start'],
  'Node.Console': ['POST', '/nodes/console/reset'],
  'Link.Allocate': ['POST', '/links'],
  'Link.Modify': ['PUT', '/links/x'],
  'Link.Capture': ['POST', '/links/x/start_capture'],
  'Drawing.Allocate': ['POST', '/drawings'],
  'Drawing.Modify': ['PUT', '/drawings/x'],
  'Project.Modify': ['PUT', ''],
  'Project.Allocate': ['POST', '/close'],
};

/** Shows why the account lacks a privilege on a project, or on all projects. */
export async function sayWhyNot(app: App, privilege: Privilege, projectId?: string): Promise<void> {
  const [method, path] = projectId === undefined ? ['POST', ''] : (requests[privilege] ?? ['PUT', '']);
  const target = projectId === undefined ? '/v2/projects' : `/v2/projects/${projectId}${path}`;
  app.toasts.show('error', (await explainRefusal(method, target)) ?? privilege);
}
