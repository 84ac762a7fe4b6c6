/** An appliance file of the user: stored at the server, so that its gallery lists it. */

import { type Appliance, appliancesOf } from '../../src/schema/appliance.ts';
import type { App } from '../state/app.ts';
import { catalogTexts } from './catalog-texts.ts';

/** Returns the file's appliance, of several the first; undefined for another file. @throws Error for one that is damaged or refused */
export async function takeApplianceFile({ api }: App, file: File): Promise<Appliance | undefined> {
  if (!/\.(gns3a|gns3appliance)$/i.test(file.name)) return undefined;
  const content = parse(await file.text());
  const [appliance] = appliancesOf(content);
  if (!appliance) throw new Error(catalogTexts.notAnAppliance(file.name));
  await api.upload(`/v2/appliances/files/${encodeURIComponent(file.name)}`, { body: file });
  return appliance;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
