/** The version that GNS3's desktop client names itself: it works with no other server. */

/** Series of versions that work with a generation of the API. */
const series = { 2: String.raw`2\.2\.\d{1,4}(?!\d)`, 3: String.raw`3\.\d{1,2}\.\d{1,4}(?:\.?(?:a|b|rc|dev)\d{1,4})?(?!\d)` };

/** Finds it in a `User-Agent` such as `GNS3 QT Client v2.2.61`; undefined for clients of another generation, and for others. */
export function clientVersion(userAgent = '', generation: keyof typeof series): string | undefined {
  return new RegExp(String.raw`\bGNS3\b.*?\bv?(${series[generation]})`, 'i').exec(userAgent)?.[1];
}

/** Version of `/v3`, answered to clients that do not name their own: the last of the 3.0 series. */
export const standardVersion = '3.0.6';
