/** Our own version, and that of the GNS3 API we speak (what clients compare themselves with). */
import packageJson from '../package.json' with { type: 'json' };

export const version: string = packageJson.version;
export const apiVersion = '2.2.60';
