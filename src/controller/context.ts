/** Dependencies that the parts of a controller share. They are known before any part is made. */
import type { Log } from '../lib/log.ts';
import type { Settings } from '../schema/settings.ts';

export interface ControllerContext {
  readonly settings: Settings;
  readonly log: Log;
  /** Version of GNS3's API that is served. */
  readonly version: string;
  /** Folder of the records of this server. */
  readonly stateDirectory: string;
}
