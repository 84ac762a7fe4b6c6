/** Settings and log of the simulated controller. */
import { pino } from 'pino';
import { defaultSettings, type Settings } from '../../../src/schema/settings.ts';

const dataDirectory = '/sim/data';

/** Silent, unless PATCHBAY_SIMULATE_LOG names a level. */
export const log = pino({ level: process.env.PATCHBAY_SIMULATE_LOG ?? 'silent' });
const { Server, Cluster, ...more } = defaultSettings();
export const settings = {
  ...more,
  Server: {
    ...{
      ...Server,
      host: '127.0.0.1',
      enable_builtin_templates: false,
      clear_credentials: true,
      install_builtin_appliances: false,
      min_free_bytes: 0,
    },
    ...{
      configs_path: `${dataDirectory}/configs`,
      symbols_path: `${dataDirectory}/symbols`,
      appliances_path: `${dataDirectory}/appliances`,
    },
    ...{ images_path: `${dataDirectory}/images`, projects_path: `${dataDirectory}/projects` },
  },
  Cluster,
  ...{ dataDirectory, runtimeDirectory: '/sim/run' },
} as Settings;
