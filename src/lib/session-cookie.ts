/** Names of the cookies of browsers that signed in begin so; the server's port follows. */
export const sessionCookiePrefix = 'patchbay-';
