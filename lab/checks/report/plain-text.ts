/** Converts console output to text for reports: without control sequences, and valid in XML. */

/** Control characters except tab and newline, unpaired surrogates, and characters that XML 1.0 does not allow. */
const refused = /(?![\t\n])\p{Cc}|\p{Cs}|[\ufffe\uffff]/gu;
const escapeSequence = new RegExp(`${String.fromCharCode(27)}(?:\\[[0-9;?]*[ -/]*[@-~]|[()][0-9A-Za-z])`, 'g');

export function plainText(text: string): string {
  return text
    .replaceAll(escapeSequence, '')
    .replaceAll(/\r+\n?/g, '\n')
    .replaceAll(refused, '\ufffd');
}

/** Escapes text for elements and attributes of XML and HTML. */
export function escapeMarkup(text: string): string {
  return plainText(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
