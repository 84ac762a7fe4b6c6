/**
 * Names the requester of a change in a project's history: the client's own header, else the user of the login, else the User-Agent.
 */
import type { FastifyRequest } from 'fastify';
import type { Requester } from '../api/requester.ts';

/** Longer names are cut. Characters. */
const longest = 100;
/** Header in which a page or a script names the person for whom it sends the request. */
const header = 'x-patchbay-client';

/** Computes the name on demand, because most requests change nothing. */
export function identityOf({ headers, caller }: FastifyRequest): Requester {
  const account = caller?.isAnonymous ? undefined : caller?.username;
  return {
    ...(caller && { caller }),
    get by() {
      const said = headers[header];
      const text =
        (Array.isArray(said) ? said[0] : said) || account || userOf(headers.authorization) || headers['user-agent'] || '';
      const shown = text
        .replace(/\p{Cc}/gu, ' ')
        .trim()
        .slice(0, longest);
      return shown === '' ? null : shown;
    },
  };
}

/** The user name of HTTP Basic; its password was checked before. */
function userOf(authorization: string | undefined): string | undefined {
  const encoded = /^Basic (\S+)$/i.exec(authorization ?? '')?.[1];
  return encoded && Buffer.from(encoded, 'base64').toString('utf8').split(':', 1)[0];
}
