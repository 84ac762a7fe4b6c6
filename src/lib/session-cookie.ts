/** Names of the cookies of browsers that signed in begin so; a port follows. */
export const sessionCookiePrefix = 'patchbay-';
