import { fault } from '../../../api/faults.ts';
import type { FeedSource } from '../../../api/notification-feeds.ts';
import { isAdministrator, mayCall } from '../../../api/rights.ts';
import { type Call, type Route, route, type Socket, socketRoute } from '../../../api/route.ts';
import type { Log } from '../../../lib/log.ts';
import {
  access,
  accessUpdated,
  linkStats,
  linkStatsChanged,
  Notification,
  resetAction,
  resumedAction,
  type StreamReset,
  type StreamResumed,
  since,
} from '../../../schema/notification.ts';
import { presence } from '../../../schema/presence.ts';
import type { Controller } from '../../controller.ts';
import type { Notice } from '../../live/host/project-context.ts';
import { desktopLink } from '../../live/links/filter-forms.ts';
import type { LinkObject } from '../../live/links/link.ts';
import { changedOnly } from '../../live/links/link-stats-feed.ts';
import type { LiveProject, Missed } from '../../live/live-project.ts';
import type { Presence } from '../../live/presence.ts';

const reply = Notification;
/** GNS3's clients are sent only what they know. */
const parameters = { since, link_stats: linkStats, link_stats_changed: linkStatsChanged };

/** Returns the notices of the controller, and those of a project as a request asks for them. */
export function feedSources({ notices, projects, log, desktops }: Controller) {
  const ofServer = (call: Pick<Call, 'caller'>): FeedSource<Notice> => ({
    listen: (listener) => notices.subscribe((notice) => maySee(call, notice) && listener(notice)),
  });
  const ofProject = ({ path, query, ...call }: Call<'{project_id}'>): FeedSource<Notice> => {
    const project = projects.get(path.project_id);
    const token = tokenOf(query.since);
    const all = token === undefined ? project.listen.bind(project) : resume(project, token, log);
    const changes: typeof all = desktops.hasFeed(call) ? (listener) => all((notice) => listener(forDesktop(notice))) : all;
    const seq = () => project.liveNow?.seq;
    const isAll = isOn(query, 'link_stats');
    if (!isOn(query, 'link_stats_changed') && !isAll) return { listen: changes, seq };
    const listen: FeedSource<Notice>['listen'] = (listener) => {
      const leave = changes(listener);
      const stop = project.linkStats.listen(isAll ? listener : changedOnly(listener));
      return () => {
        stop();
        leave();
      };
    };
    return { listen, seq };
  };
  return { ofServer, ofProject };
}

export function notificationRoutes(controller: Controller): Route[] {
  const { feeds, projects } = controller;
  const { ofServer, ofProject } = feedSources(controller);
  return [
    route(
      'GET /v2/notifications',
      { right: 'login', summary: 'Events of computes and projects, one JSON document per line', reply },
      (call) => feeds.stream(ofServer(call), call),
    ),
    socketRoute(
      'GET /v2/notifications/ws',
      { right: 'login', summary: 'Events of computes and projects', query: { access } },
      (call) => (isOn(call.query, 'access') ? withAccess(ofServer(call), call) : ofServer(call)),
      (socket, from, { client }) => feeds.serve(from, socket, client),
    ),
    route(
      'GET /v2/projects/{project_id}/notifications',
      { right: 'Project.Audit', summary: 'Events of a project, one JSON document per line', query: parameters, reply },
      (call) => feeds.stream(ofProject(call), call),
    ),
    socketRoute(
      'GET /v2/projects/{project_id}/notifications/ws',
      { right: 'Project.Audit', summary: 'Events of a project', query: { ...parameters, presence } },
      (call) => ({
        from: ofProject(call),
        present: isOn(call.query, 'presence') ? projects.get(call.path.project_id).presence : undefined,
      }),
      (socket, { from, present }, { user, client }) =>
        feeds.serve(present ? withSession(from, present, { socket, user }) : from, socket, client),
    ),
  ];
}

/** Whether an account may see an event of the server: those of a project, and messages, may name what it does not know. */
function maySee(call: Pick<Call, 'caller'>, { action, event }: Notice): boolean {
  if (call.caller === undefined || call.caller.isSuperAdmin) return true;
  if (action.startsWith('log.')) return isAdministrator(call.caller);
  if (!action.startsWith('project.')) return true;
  return mayCall(call, 'Project.Audit', `/projects/${(event as { project_id?: string }).project_id}`);
}

/** Time for which changes of rights are collected to one notice, ms: a class of thirty is made of a hundred changes. */
const accessDelayMs = 200;

/** Announces changes of accounts and rights, without saying which: the listener reads again what it may see. */
function withAccess(from: FeedSource<Notice>, { caller }: Pick<Call, 'caller'>): FeedSource<Notice> {
  const listen: FeedSource<Notice>['listen'] = (listener) => {
    const leave = from.listen(listener);
    let timer: NodeJS.Timeout | undefined;
    const stop = caller?.onChange?.(() => {
      timer ??= setTimeout(() => {
        timer = undefined;
        listener({ action: accessUpdated, event: {} });
      }, accessDelayMs);
    });
    return () => {
      clearTimeout(timer);
      stop?.();
      leave();
    };
  };
  return { ...from, listen };
}

/** Returns the notice with a link's filters in the form that the desktop's dialog can show. */
function forDesktop(notice: Notice): Notice {
  const isOfLink = notice.action === 'link.created' || notice.action === 'link.updated';
  return isOfLink ? { ...notice, event: desktopLink(notice.event as LinkObject) } : notice;
}

/** The connection is a session of the project, too. */
function withSession(
  from: FeedSource<Notice>,
  present: Presence,
  { socket, user }: { readonly socket: Socket; readonly user: string | undefined },
): FeedSource<Notice> {
  const listen: FeedSource<Notice>['listen'] = (listener) => {
    const leave = from.listen(listener);
    const end = present.enter(socket, user, listener);
    return () => {
      end?.();
      leave();
    };
  };
  return { ...from, listen };
}

/** @throws `invalid_request` */
function tokenOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text))
    throw fault('invalid_request', { reason: 'since must be the seq of a notification: a whole number' });
  return Number(text);
}

/** @throws invalid_request */
function isOn(query: Call['query'], name: string): boolean {
  const value = (query[name] ?? 'false').toLowerCase();
  if (value === 'true' || value === '1') return true;
  if (value === 'false' || value === '0') return false;
  throw fault('invalid_request', { reason: `${name} is true or false, not "${value.slice(0, 100)}"` });
}

interface Resumable {
  listen(listener: (notice: Notice) => void): () => void;
  findLive(): Promise<LiveProject | undefined>;
}

/**
 * Returns a `listen` for the project that first replays the changes after `since`. Notices that arrive during the replay follow it: each is
 * sent once, in order.
 */
function resume(project: Resumable, since: number, log: Log) {
  return (listener: (notice: Notice) => void): (() => void) => {
    let waiting: Notice[] | undefined = [];
    const leave = project.listen((notice) => {
      if (waiting) waiting.push(notice);
      else listener(notice);
    });
    const begin = (missed: Missed) => {
      const early = waiting ?? [];
      waiting = undefined;
      const isSent = ({ seq }: Notice) => typeof missed === 'object' && seq !== undefined && seq <= missed.seq;
      for (const notice of [...noticesOf(missed, since), ...early.filter((each) => !isSent(each))]) listener(notice);
    };
    missed(project, since).then(begin, (error: unknown) => {
      log.warn({ err: error }, 'the history of a project could not be read');
      begin('too_old');
    });
    return leave;
  };
}

async function missed(project: Resumable, since: number): Promise<Missed> {
  return (await project.findLive())?.missed(since) ?? 'closed';
}

function noticesOf(missed: Missed, since: number): readonly Notice[] {
  if (typeof missed === 'string') return [{ action: resetAction, event: { since, reason: missed } satisfies StreamReset }];
  const event: StreamResumed = { since, seq: missed.seq };
  return [{ action: resumedAction, event }, ...missed.notices];
}
