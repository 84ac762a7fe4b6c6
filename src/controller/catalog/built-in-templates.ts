/** The templates that every server has: their ids, names and symbols are those that GNS3's clients know. */
import { templateFacts } from '../../emulators/kinds.ts';
import type { NodeType } from '../../schema/node.ts';
import type { Template } from '../../schema/template.ts';
import { canonical } from '../model/canonical.ts';

export const builtInTemplates: readonly Template[] = [...templateFacts].flatMap(([type, facts]) => {
  const { builtIn, category, default_name_format, symbol } = facts;
  if (!builtIn) return [];
  const { template_id, name, settings } = builtIn;
  return canonical<Template>({
    ...settings,
    builtin: true,
    category,
    compute_id: null,
    default_name_format,
    name,
    symbol,
    template_id,
    template_type: type as NodeType,
  });
});
