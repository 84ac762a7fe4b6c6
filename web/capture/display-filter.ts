/**
 * The display filter: terms joined by `and`, `or`, `not` and parentheses; terms side by side must all match. A term is a protocol
 * (`arp`, `tcp` …) anywhere in the frame; a field of Wireshark with a value (`ip.addr == 10.0.0.1`, see `filter-fields.ts`); `host
 * 10.0.0.1` or the address alone; `port 53`; `vlan 20`. Any other word, and text in quotes, is searched for in the text of the row.
 */
import { texts } from '../texts.ts';
import type { Decoding } from './decode/decoding.ts';
import { filterFields, valueTypes } from './filter-fields.ts';

export type Matches = (decoding: Decoding) => boolean;

export interface DisplayFilter {
  /** Undefined: all packets match. */
  readonly matches: Matches | undefined;
  /** Words that are neither a protocol nor a field, and are searched for as text. */
  readonly words: readonly string[];
}

/** The filter is not complete, or wrong. */
export class FilterError extends Error {
  override readonly name = 'FilterError';
}

const protocols: readonly string[] =
  'ethernet arp vlan ipv4 ipv6 icmp icmpv6 tcp udp dhcp dns stp lldp llc mpls igmp gre esp ospf eigrp pim vrrp sctp'.split(' ');
const aliases: Readonly<Record<string, readonly string[]>> = {
  ip: ['ipv4'],
  icmp: ['icmp', 'icmpv6'],
  icmp6: ['icmpv6'],
  eth: ['ethernet'],
  bootp: ['dhcp'],
};
const address = /^(\d{1,3}(\.\d{1,3}){3}|[\da-f]{2}(:[\da-f]{2}){5}|[\da-f]*:[\da-f:]*:[\da-f:]*)$/;
const token = /\s*("[^"]*"?|==?|!=|&&?|\|\|?|[!()]|[^\s"=!&|()]+)/g;
const operators: Readonly<Record<string, boolean>> = { '==': true, eq: true, '!=': false, ne: false };

/** @throws FilterError in words for the user */
export function displayFilter(text: string): DisplayFilter {
  const parser = new FilterParser(text.toLowerCase());
  return { matches: parser.parse(), words: parser.words };
}

class FilterParser {
  readonly words: string[] = [];
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = [...text.matchAll(token)].map(([, found = '']) => found);
  }

  parse(): Matches | undefined {
    if (this.#tokens.length === 0) return undefined;
    const matches = this.#any();
    if (this.#next !== undefined) throw new FilterError(texts.capture.filterErrors.unexpected(this.#next));
    return matches;
  }

  get #next(): string | undefined {
    return this.#tokens[this.#at];
  }

  #skip(...tokens: readonly string[]): boolean {
    const isThere = this.#next !== undefined && tokens.includes(this.#next);
    if (isThere) this.#at += 1;
    return isThere;
  }

  #any(): Matches {
    const parts = [this.#all()];
    while (this.#skip('or', '||')) parts.push(this.#all());
    return (decoding) => parts.some((part) => part(decoding));
  }

  #all(): Matches {
    const parts = [this.#one()];
    while (this.#next !== undefined && !['or', '||', ')'].includes(this.#next)) {
      this.#skip('and', '&&');
      parts.push(this.#one());
    }
    return (decoding) => parts.every((part) => part(decoding));
  }

  #one(): Matches {
    if (this.#skip('not', '!')) {
      const part = this.#one();
      return (decoding) => !part(decoding);
    }
    if (this.#skip('(')) {
      const part = this.#any();
      if (!this.#skip(')')) throw new FilterError(texts.capture.filterErrors.open);
      return part;
    }
    return this.#term();
  }

  #term(): Matches {
    const word = this.#next;
    if (word === undefined) throw new FilterError(texts.capture.filterErrors.incomplete);
    if (/^(and|or|[=&|)!]+)$/.test(word)) throw new FilterError(texts.capture.filterErrors.unexpected(word));
    this.#at += 1;
    if (this.#next !== undefined && (this.#next in operators || this.#next === '=')) return this.#comparison(word);
    if (filterFields.has(word)) return hasField(word);
    return this.#withValue(word) ?? this.#alone(word);
  }

  #comparison(name: string): Matches {
    const [operator = '', value] = this.#tokens.slice(this.#at, this.#at + 2);
    const field = filterFields.get(name);
    if (!field) throw new FilterError(texts.capture.filterErrors.field(name, [...filterFields.keys()]));
    const isEqual = operators[operator];
    if (isEqual === undefined) throw new FilterError(texts.capture.filterErrors.operator(name, operator));
    if (value === undefined) throw new FilterError(texts.capture.filterErrors.incomplete);
    const test = valueTypes[field.type](value);
    if (!test) throw new FilterError(texts.capture.filterErrors.value(value, field.type));
    this.#at += 2;
    // Wireshark's rule: `!=` is true when the frame has the field and no value of it is equal.
    return (decoding) => {
      const values = field.values(decoding);
      return isEqual ? values.some(test) : values.length > 0 && !values.some(test);
    };
  }

  #withValue(word: string): Matches | undefined {
    const value = this.#next;
    if (value === undefined) return undefined;
    const isNumber = /^\d+$/.test(value);
    const matches: Matches | undefined =
      word === 'host' || word === 'addr'
        ? ({ hosts }) => hosts.includes(value)
        : word === 'port' && isNumber
          ? ({ ports }) => ports.includes(Number(value))
          : word === 'vlan' && isNumber
            ? (decoding) => filterFields.get('vlan.id')?.values(decoding).includes(value) === true
            : undefined;
    if (matches) this.#at += 1;
    return matches;
  }

  #alone(word: string): Matches {
    const wanted = aliases[word] ?? (protocols.includes(word) ? [word] : undefined);
    if (wanted) return ({ layers }) => layers.some(({ name }) => wanted.includes(name.toLowerCase()));
    if (address.test(word)) return ({ hosts }) => hosts.includes(word);
    const isQuoted = word.startsWith('"');
    const text = isQuoted ? word.replaceAll('"', '') : word;
    if (!isQuoted) this.words.push(word);
    return ({ source, destination, protocol, info }) => `${source} ${destination} ${protocol} ${info}`.toLowerCase().includes(text);
  }
}

function hasField(name: string): Matches {
  const field = filterFields.get(name);
  return (decoding) => (field?.values(decoding).length ?? 0) > 0;
}
