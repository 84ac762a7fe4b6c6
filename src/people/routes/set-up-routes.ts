/** `/setup` and `/v3/access/setup`: the first administrator's password. */
import { type Route, route, Stream } from '../../api/route.ts';
import type { SetUp } from '../set-up.ts';
import { SetUpBody } from './schemas.ts';
import { setUpHeaders, setUpPage } from './set-up-page.ts';

export function setUpRoutes(setUp: SetUp): Route[] {
  return [
    route(
      'GET /setup',
      { summary: 'Get the page of the set-up address', right: 'open', own: true, replyType: 'text/html' },
      () => new Stream('text/html; charset=utf-8', Buffer.from(setUpPage), { ...setUpHeaders }),
    ),
    route(
      'POST /v3/access/setup',
      {
        summary: "Set the first administrator's password with the token of the start",
        right: 'secret',
        own: true,
        body: SetUpBody,
        status: 204,
      },
      ({ body, client = '' }) => setUp.finish({ ...body, client }),
    ),
  ];
}
