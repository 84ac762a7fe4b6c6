/** Prefix of the session cookies' names; a port follows. */
export const sessionCookiePrefix = 'patchbay-';
