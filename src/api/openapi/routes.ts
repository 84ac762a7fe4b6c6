/** Serves the description of the routes, which is built and loaded on the first request. */
import { type Route, route, Stream } from '../route.ts';
import type { ApiDocument, ApiVersions } from './document.ts';

/** The page has no scripts and no resources of other servers. */
const headers = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
  'x-content-type-options': 'nosniff',
};

/** Returns `described` with the routes that describe them. */
export function withDocument(described: readonly Route[], versions: ApiVersions): readonly Route[] {
  let made: Promise<ApiDocument> | undefined;
  const document = () => {
    made ??= import('./document.ts').then(({ describeApi }) => Object.freeze(describeApi(all, versions)));
    return made;
  };
  const page = async () => {
    const { pageOf } = await import('./page.ts');
    return new Stream('text/html; charset=utf-8', Buffer.from(pageOf(await document())), headers);
  };
  const all: readonly Route[] = [
    ...described,
    route('GET /openapi.json', { right: 'login', summary: 'All routes as an OpenAPI 3.1 document', own: true }, document),
    route('GET /api', { right: 'login', summary: 'The description as a web page', replyType: 'text/html', own: true }, page),
    route('GET /docs', { right: 'login', summary: 'The same, at an address of GNS3 3', replyType: 'text/html' }, page),
    route('GET /redoc', { right: 'login', summary: 'The same, at another address of GNS3 3', replyType: 'text/html' }, page),
  ];
  return all;
}
