/**
 * How deep a JSON text is nested, and how many values and keys it has, found without parsing: parsers and what walks their result use the
 * stack, and an object of 50,000 keys takes 15 to 40 ms each time that it is listed or copied.
 */

const [quote, backslash, openBrace, closeBrace, openBracket, closeBracket] = [...'"\\{}[]'].map((one) => one.charCodeAt(0));

/** Where the string that begins at `at` ends: at its closing quote, or behind the last byte. */
function endOfString(bytes: Uint8Array, at: number): number {
  let end = at + 1;
  while (end < bytes.length && bytes[end] !== quote) end += bytes[end] === backslash ? 2 : 1;
  return end;
}

/** Whether objects and arrays lie in each other deeper than `limit`. `bytes` are JSON in UTF-8; of other texts it may say anything. */
export function isDeeper(bytes: Uint8Array, limit: number): boolean {
  // Each level takes two bytes.
  if (bytes.length <= limit * 2) return false;
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === quote) at = endOfString(bytes, at);
    else if (byte === openBrace || byte === openBracket) {
      depth += 1;
      if (depth > limit) return true;
    } else if (byte === closeBrace || byte === closeBracket) depth -= 1;
  }
  return false;
}

const [comma, colon] = [...',:'].map((one) => one.charCodeAt(0));
/** Bytes up to this one are blanks (RFC 8259, §2). */
const space = ' '.charCodeAt(0);

/** Whether there are more values than `limit`: objects, arrays, and all that is in them. Of texts that are not JSON it may say anything. */
export function hasMoreValues(bytes: Uint8Array, limit: number): boolean {
  // A value and what separates it from the next take two bytes.
  if (bytes.length <= limit * 2) return false;
  let values = 1;
  let isOpening = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? space;
    if (byte <= space) continue;
    const isClosing = byte === closeBrace || byte === closeBracket;
    // The first value of an object or array; the others follow a comma.
    if (byte === comma || (isOpening && !isClosing)) values += 1;
    if (values > limit) return true;
    isOpening = byte === openBrace || byte === openBracket;
    if (byte === quote) at = endOfString(bytes, at);
  }
  return false;
}

/** Whether an object has more keys than `limit`. Of texts that are not JSON it may say anything. */
export function hasMoreKeys(bytes: Uint8Array, limit: number): boolean {
  // A key takes five bytes with its value: `"":1,`.
  if (bytes.length <= limit * 5) return false;
  /** Keys so far of each object that is open, the innermost last. */
  const open: number[] = [];
  let keys = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === quote) at = endOfString(bytes, at);
    else if (byte === openBrace) {
      open.push(keys);
      keys = 0;
    } else if (byte === closeBrace) keys = open.pop() ?? 0;
    else if (byte === colon) {
      keys += 1;
      if (keys > limit) return true;
    }
  }
  return false;
}
