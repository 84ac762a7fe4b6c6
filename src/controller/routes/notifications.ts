import { type Route, route, socketRoute } from '../../api/route.ts';
import type { Controller } from '../controller.ts';
import type { Listen } from '../feed.ts';

export function notificationRoutes({ feeds, notices, projects }: Controller): Route[] {
  const ofServer: Listen = (listener) => notices.subscribe(listener);
  const ofProject = (projectId: string): Listen => {
    const project = projects.get(projectId);
    return (listener) => project.listen(listener);
  };
  return [
    route('GET /v2/notifications', { summary: 'Events of computes and projects, one JSON document a line' }, ({ signal }) =>
      feeds.stream(ofServer, signal),
    ),
    socketRoute(
      'GET /v2/notifications/ws',
      { summary: 'Events of computes and projects' },
      () => ofServer,
      (socket, listen) => feeds.serve(listen, socket),
    ),
    route(
      'GET /v2/projects/{project_id}/notifications',
      { summary: 'Events of a project, one JSON document a line' },
      ({ path, signal }) => feeds.stream(ofProject(path.project_id), signal),
    ),
    socketRoute(
      'GET /v2/projects/{project_id}/notifications/ws',
      { summary: 'Events of a project' },
      ({ path }) => ofProject(path.project_id),
      (socket, listen) => feeds.serve(listen, socket),
    ),
  ];
}
