import type { BaseLogger } from 'pino';

/** The server's log, for administrators. */
export type Log = Pick<BaseLogger, 'debug' | 'error' | 'info' | 'warn'>;
