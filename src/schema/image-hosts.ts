/** The hosts from which images may be downloaded. The page reads this file as well. */

/** In `image_hosts`: the download hosts of the built-in appliances. */
export const applianceHosts = 'appliances';

/** A scheme, a name or `*.` and a name or an IP address, and a port. Without a scheme it is https. */
const entryPattern = /^(?:(https?):\/\/)?(\*\.)?([\w.-]+|\[[\da-f:.]+\])(:\d{1,5})?$/i;
const addressPattern = /^(?:\[|[\d.]+$)/;

/**
 * Origins as URLs have them, such as `https://example.org`, `https://*.example.org:8443`, `http://10.0.0.5`, and `applianceHosts`.
 * @throws Error naming an entry that is no host
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

/** `*.example.org` stands for every name below it, not for itself. */
export function isImageHost(
  origins: readonly string[],
  { protocol, host }: { readonly protocol: string; readonly host: string },
): boolean {
  return origins.some((origin) => {
    const [scheme, name = ''] = origin.split('//');
    return scheme === protocol && (name.startsWith('*.') ? host.endsWith(name.slice(1)) : name === host);
  });
}
