import type { FeedSource } from '../../../api/notification-feeds.ts';
import { type Route, route } from '../../../api/route.ts';
import type { Node } from '../../../schema/node.ts';
import { Notification } from '../../../schema/notification.ts';
import type { Template } from '../../../schema/template.ts';
import type { Templates } from '../../catalog/templates.ts';
import type { Controller } from '../../controller.ts';
import type { Notice } from '../../live/host/project-context.ts';
import { feedSources } from '../v2/notifications.ts';
import { nodeOf } from './nodes.ts';
import { templateOf } from './templates.ts';
import type { DeclareTwin } from './twins.ts';

const same = (event: object) => event;
const ofNode = (event: object) => nodeOf(event as Node);
const logs = { 'log.error': same, 'log.warning': same, 'log.info': same };

type EventShapes = Readonly<Record<string, (event: object) => object>>;

/** Events of the controller's feed and their shapes; others are not sent. */
function controllerEvents(templates: Templates): EventShapes {
  const ofTemplate = (event: object) => templateOf(event as Template, templates);
  return {
    'compute.created': same,
    'compute.updated': same,
    'compute.deleted': same,
    'template.created': ofTemplate,
    'template.updated': ofTemplate,
    'template.deleted': ofTemplate,
    'project.created': same,
    'project.opened': same,
    'project.closed': same,
    'project.updated': same,
    'project.deleted': same,
    ...logs,
  };
}

/** Events of a project's feed and their shapes; others are not sent. */
const projectEvents: EventShapes = {
  'node.created': ofNode,
  'node.updated': ofNode,
  'node.deleted': ofNode,
  'link.created': same,
  'link.updated': same,
  'link.deleted': same,
  'drawing.created': same,
  'drawing.updated': same,
  'drawing.deleted': same,
  'snapshot.restored': same,
  'stream.ended': same,
  ...logs,
};

export function notificationRoutes(controller: Controller, twin: DeclareTwin): Route[] {
  const { feeds } = controller;
  const { ofServer, ofProject } = feedSources(controller);
  const ofController = controllerEvents(controller.templates);
  return [
    route(
      'GET /v3/notifications',
      { summary: 'Events of computes, templates and projects', reply: Notification, right: 'login' },
      (call) => feeds.stream(only(ofController, ofServer(call)), call),
    ),
    twin('GET /v3/notifications/ws', 'GET /v2/notifications/ws', {
      answer: (from: FeedSource<Notice>) => only(ofController, from),
    }),
    route(
      'GET /v3/projects/{project_id}/notifications',
      { summary: 'Events of a project', reply: Notification, right: 'Project.Audit' },
      (call) => feeds.stream(only(projectEvents, ofProject(call)), call),
    ),
    twin('GET /v3/projects/{project_id}/notifications/ws', 'GET /v2/projects/{project_id}/notifications/ws', {
      query: {},
      answer: ({ from }: { readonly from: FeedSource<Notice> }) => ({ from: only(projectEvents, from) }),
    }),
    twin('GET /v3/projects/{project_id}/nodes/{node_id}/console/ws', 'GET /v2/projects/{project_id}/nodes/{node_id}/console/ws'),
  ];
}

/** Notices that were shaped, so that listeners share them and their texts. */
const shaped = new WeakMap<Notice, Notice>();

function only(events: EventShapes, { listen }: FeedSource<Notice>): FeedSource<Notice> {
  return {
    listen: (listener) =>
      listen((notice) => {
        const shape = Object.hasOwn(events, notice.action) ? events[notice.action] : undefined;
        if (!shape) return;
        const known = shaped.get(notice) ?? { action: notice.action, event: shape(notice.event as object) };
        shaped.set(notice, known);
        listener(known);
      }),
  };
}
