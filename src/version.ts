/** Version of this program, and the GNS3 API version that it speaks, with which clients compare themselves. */
import packageJson from '../package.json' with { type: 'json' };

export const version: string = packageJson.version;
export const apiVersion = '2.2.60';
