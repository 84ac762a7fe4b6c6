/** How deep a JSON text is nested, found without parsing: parsers and what walks their result use the stack. */

const [quote, backslash, openBrace, closeBrace, openBracket, closeBracket] = [...'"\\{}[]'].map((one) => one.charCodeAt(0));

/** Whether objects and arrays lie in each other deeper than `limit`. `bytes` are JSON in UTF-8; of other texts it may say anything. */
export function isDeeper(bytes: Uint8Array, limit: number): boolean {
  // Each level takes two bytes.
  if (bytes.length <= limit * 2) return false;
  let depth = 0;
  let inString = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (inString) {
      if (byte === backslash) at += 1;
      else if (byte === quote) inString = false;
    } else if (byte === quote) inString = true;
    else if (byte === openBrace || byte === openBracket) {
      depth += 1;
      if (depth > limit) return true;
    } else if (byte === closeBrace || byte === closeBracket) depth -= 1;
  }
  return false;
}
