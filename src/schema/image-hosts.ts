/** Parses the hosts from which images may be downloaded. The page loads this file as well. */

/** Entry in `image_hosts` that stands for the download hosts of the built-in appliances. */
export const applianceHosts = 'appliances';

/** An optional scheme (default https), a name, `*.` and a name, or an IP address, and an optional port. */
const entryPattern = /^(?:(https?):\/\/)?(\*\.)?([\w.-]+|\[[\da-f:.]+\])(:\d{1,5})?$/i;
const addressPattern = /^(?:\[|[\d.]+$)/;

/**
 * Parses a list of hosts into URL origins, such as `https://example.org`, `https://*.example.org:8443`, `http://10.0.0.5`, or
 * `applianceHosts`.
 * @throws Error naming an invalid entry
 */
export function parseImageHosts(text: string): string[] {
  const entries = text.split(',').map((entry) => entry.trim());
  return entries.filter((entry) => entry !== '').map((entry) => (entry === applianceHosts ? entry : originOf(entry)));
}

function originOf(entry: string): string {
  const [, scheme = 'https', wildcard = '', host = '', port = ''] = entryPattern.exec(entry) ?? [];
  const url = URL.parse(`${scheme.toLowerCase()}://${host}${port}`);
  if (host === '' || !url || (wildcard !== '' && addressPattern.test(url.hostname))) throw new Error(`"${entry}" is no host`);
  return `${url.protocol}//${wildcard}${url.host}`;
}

/** Whether a URL's origin is permitted. `*.example.org` matches every name below example.org, not example.org itself. */
export function isImageHost(
  origins: readonly string[],
  { protocol, host }: { readonly protocol: string; readonly host: string },
): boolean {
  return origins.some((origin) => {
    const [scheme, name = ''] = origin.split('//');
    return scheme === protocol && (name.startsWith('*.') ? host.endsWith(name.slice(1)) : name === host);
  });
}
