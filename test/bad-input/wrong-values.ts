/** Values that a field of a given type must refuse. */

export type Sort =
  | { readonly is: 'string' | 'text' | 'name' | 'uuid' | 'flag' | 'object' | 'list' | 'word' | 'mac'; readonly nullable?: boolean }
  | { readonly is: 'integer'; readonly nullable?: boolean; readonly minimum?: number; readonly maximum?: number };

const string = [5, 1.5, true, [], {}, ['x']];
const withLength = (length: number) => [...string, `a${'\0'}b`, 'x'.repeat(length)];
/** Longer than any text may be. */
const text = withLength(66_000);
/** Longer than `maxTextLength`. */
const shortText = withLength(5000);

function wrongFor(sort: Sort): unknown[] {
  switch (sort.is) {
    // Whatever its length and characters.
    case 'string':
      return string;
    case 'text':
      return text;
    case 'name':
      return ['', ...shortText];
    case 'uuid':
      return [
        '',
        'x',
        'z'.repeat(36),
        '00000000-0000-4000-8000-0000000000000',
        ' 00000000-0000-4000-8000-00000000000',
        ...shortText,
      ];
    case 'word':
      return ['', 'nonsense', ...shortText];
    case 'mac':
      return ['nonsense', '00:11:22:33:44', '00:11:22:33:44:gg', ...shortText];
    case 'flag':
      return ['true', '', 0, 1, [], {}];
    case 'object':
      return ['x', '', 5, true, [], ['x']];
    case 'list':
      return ['x', '', 5, true, {}, { 0: 'x' }];
    case 'integer': {
      const { minimum, maximum } = sort;
      const outside = [...(minimum === undefined ? [] : [minimum - 1]), ...(maximum === undefined ? [] : [maximum + 1])];
      return ['5', '', 1.5, true, [], {}, [5], ...outside];
    }
  }
}

export function wrongValues(sort: Sort): unknown[] {
  return sort.nullable ? wrongFor(sort) : [null, ...wrongFor(sort)];
}

/* Valid but hostile JSON texts: a field may accept or refuse them, but nothing may break. */
const hostileNumbers = ['1e308', '-1e308', '1e400', '-0', '9007199254740993'];
const hostileStrings = [
  '"\\ud800"',
  '"\\u0000"',
  '"\\u202e\\ufeff"',
  '"%s%n{name}{0}{id}"',
  '"$(touch /tmp/pb-hostile)`touch /tmp/pb-hostile`;touch /tmp/pb-hostile"',
  '"-device"',
  '"a,b=c,,file=/etc/passwd"',
];
const hostileObjects = ['{"__proto__": {"polluted": true}}', '{"constructor": {"prototype": {"polluted": true}}}'];
const hostileLists = [`${'['.repeat(400)}${']'.repeat(400)}`];

/** Texts that a field may take by its type: others are refused whatever they hold, as `wrongValues` shows. */
export function hostileTexts({ is }: Sort): readonly string[] {
  if (is === 'flag') return [];
  if (is === 'integer') return hostileNumbers;
  if (is === 'object') return hostileObjects;
  return is === 'list' ? hostileLists : hostileStrings;
}

/** Texts for one field of a route: its body is read with these before any field. */
export const allHostileTexts = [...hostileNumbers, ...hostileStrings, ...hostileObjects, ...hostileLists];
