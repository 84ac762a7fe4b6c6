import { Readable } from 'node:stream';
import { type Route, route } from '../../../api/route.ts';
import { DefaultSymbols, SymbolEntry, SymbolSize } from '../../../schema/symbol.ts';
import { Type } from '../../../schema/type.ts';
import { defaultSymbols } from '../../catalog/symbol-set.ts';
import type { Controller } from '../../controller.ts';

export function symbolRoutes({ symbols }: Controller): Route[] {
  return [
    route(
      'GET /v2/symbols',
      { right: 'Symbol.Audit', summary: 'List the symbols, built-in ones and files of users', reply: Type.Array(SymbolEntry) },
      () => symbols.list(),
    ),
    route(
      'GET /v2/symbols/{symbol_id:.+}/raw',
      { right: 'login', summary: 'The picture of a symbol; the default for an unknown one', replyType: 'image/svg+xml' },
      ({ path }) => symbols.read(path.symbol_id),
    ),
    route(
      'GET /v2/symbols/{symbol_id:.+}/dimensions',
      { right: 'Symbol.Audit', summary: 'Width and height of a symbol in pixels', reply: SymbolSize },
      ({ path }) => symbols.size(path.symbol_id),
    ),
    route(
      'POST /v2/symbols/{symbol_id:.+}/raw',
      { right: 'Symbol.Allocate', summary: 'Upload a symbol; only the last part of its id counts', raw: 'file', status: 204 },
      ({ path, stream }) => symbols.write(path.symbol_id, stream ?? Readable.from([])),
    ),
    route(
      'GET /v2/default_symbols',
      { right: 'Symbol.Audit /symbols/default_symbols', summary: 'Symbols of each theme by category', reply: DefaultSymbols },
      () => defaultSymbols,
    ),
  ];
}
