/** Lists of symbols and appliances. Source: the GNS3 2.2 v2 API. */
import { named } from './common.ts';
import { Type } from './type.ts';

export const SymbolEntry = Type.Object(
  { symbol_id: Type.String(), filename: Type.String(), theme: Type.String(), builtin: Type.Boolean() },
  named('Symbol'),
);
export const SymbolSize = Type.Object({ width: Type.Number(), height: Type.Number() }, named('SymbolSize'));
export const DefaultSymbols = Type.Record(Type.String(), Type.Record(Type.String(), Type.String()), {
  title: 'DefaultSymbols',
  description: 'Theme to category to symbol id',
});

/** An appliance: the unchecked content of its file, and these keys. */
export const Appliance = Type.Object({ builtin: Type.Boolean(), symbol: Type.Optional(Type.String()) }, { title: 'Appliance' });

/** Shapes that symbols are drawn with. */
export type SymbolFigure = 'screen' | 'tower' | 'disc' | 'box' | 'cumulus' | 'wall' | 'plate';
