/** Facts about an appliance: its maker, its purpose, its documents. */

import { type Appliance, kindOf } from '../../src/schema/appliance.ts';
import { type App, useApp } from '../state/app.ts';
import { DeviceSymbol } from '../ui/device-symbol.tsx';
import { webAddress } from './catalog.ts';
import { catalogTexts } from './catalog-texts.ts';

export function ApplianceFacts({ appliance }: { readonly appliance: Appliance }) {
  const app = useApp();
  const { vendor_name, description, usage, availability, product_url, documentation_url } = appliance;
  const { wizard } = catalogTexts;
  return (
    <div class="appliance-facts">
      <DeviceSymbol symbol={symbolOf(app, appliance)} size={40} />
      <div>
        <p>{description}</p>
        {usage && <p class="usage">{usage}</p>}
        <p class="row">
          {vendor_name && <small>{vendor_name}</small>}
          {availability && <small>{catalogTexts.availability[availability] ?? availability}</small>}
          <OutLink href={product_url} label={wizard.product} />
          <OutLink href={documentation_url} label={wizard.documentation} />
        </p>
      </div>
    </div>
  );
}

/** The symbol of the nodes: without one of its own, that of their kind. */
export function symbolOf({ server }: App, appliance: Appliance): string {
  const kinds = server.kinds.value;
  return appliance.symbol ?? kinds.get(kindOf(appliance, kinds.keys()) ?? '')?.symbol ?? ':/symbols/computer.svg';
}

/** Opens in another window: uploads and forms stay. */
export function OutLink({ href, label }: { readonly href: string | undefined; readonly label: string }) {
  const address = webAddress(href);
  if (!address) return null;
  return (
    <a class="out-link" href={address} target="_blank" rel="noreferrer noopener">
      {label}
    </a>
  );
}
