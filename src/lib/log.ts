import type { BaseLogger } from 'pino';

/** The server's log, for those who run it. */
export type Log = Pick<BaseLogger, 'debug' | 'error' | 'info' | 'warn'>;
