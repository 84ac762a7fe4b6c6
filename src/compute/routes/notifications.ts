/** The compute's events: over a WebSocket those of all projects, over HTTP those of one. */
import { type FeedSource, NotificationFeeds } from '../../api/notification-feeds.ts';
import { isOwnAgent } from '../../api/own-agent.ts';
import { computeRoute, computeSocketRoute } from '../../api/route.ts';
import { Notification } from '../../schema/notification.ts';
import type { ComputeNotice } from '../context.ts';
import type { ComputeRouteContext } from './route-context.ts';

const silenceMs = 1000;
/** Notifications that GNS3 does not have: its controllers would pass them to their clients. */
const ownActions: ReadonlySet<ComputeNotice['action']> = new Set(['capture.stopped']);

export function notificationRoutes({ events, figures, projects }: ComputeRouteContext) {
  const feeds = new NotificationFeeds<ComputeNotice>({
    silenceMs,
    async ping() {
      const [cpu_usage_percent, memory_usage_percent] = await Promise.all([figures.cpuPercent(), figures.memoryPercent()]);
      return { cpu_usage_percent, memory_usage_percent };
    },
    textOf: (notice) => JSON.stringify(notice),
  });
  const ofCompute: FeedSource<ComputeNotice> = { listen: (listener) => events.subscribe(listener) };
  const ofGns3: FeedSource<ComputeNotice> = {
    listen: (listener) => events.subscribe((event) => !ownActions.has(event.action) && listener(event)),
  };
  const ofProject = (id: string): FeedSource<ComputeNotice> => ({
    listen: (listener) => events.subscribe((event) => event.project_id === id && listener(event)),
  });
  return [
    computeSocketRoute(
      'GET /v2/compute/notifications/ws',
      { summary: 'Events of this compute' },
      ({ userAgent }) => (isOwnAgent(userAgent) ? ofCompute : ofGns3),
      (socket, source, { client }) => feeds.serve(source, socket, client),
    ),
    computeRoute(
      'GET /v2/compute/projects/{project_id}/notifications',
      { summary: 'Events of a project on this compute, one JSON document per line', reply: Notification },
      (call) => feeds.stream(ofProject(projects.get(call.path.project_id).id), call),
    ),
  ];
}
