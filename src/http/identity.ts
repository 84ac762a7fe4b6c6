/** Who a request comes from, for the history of projects: what the client says, else the user that it signed in as, else its program. */
import type { FastifyRequest } from 'fastify';
import type { Requester } from '../api/requester.ts';

/** Longer ones are cut. Characters. */
const longest = 100;
/** A page or a script says with it for whom it asks. */
const header = 'x-patchbay-client';

/** Worked out when a change is made, which most requests do not do. */
export function identityOf({ headers, signedInAs }: FastifyRequest): Requester {
  return {
    get by() {
      const said = headers[header];
      const text =
        (Array.isArray(said) ? said[0] : said) || signedInAs || userOf(headers.authorization) || headers['user-agent'] || '';
      const shown = text
        .replace(/\p{Cc}/gu, ' ')
        .trim()
        .slice(0, longest);
      return shown === '' ? null : shown;
    },
  };
}

/** The name in HTTP Basic; its password was checked before. */
function userOf(authorization: string | undefined): string | undefined {
  const encoded = /^Basic (\S+)$/i.exec(authorization ?? '')?.[1];
  return encoded && Buffer.from(encoded, 'base64').toString('utf8').split(':', 1)[0];
}
