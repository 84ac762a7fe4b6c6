/** The compute whose images are shown; hidden while there is one only. */
import type { Signal } from '@preact/signals';
import { useApp } from '../state/app.ts';
import { texts } from '../texts.ts';
import { ChoiceField } from '../ui/field.tsx';

export function ComputeField({ computeId }: { readonly computeId: Signal<string> }) {
  const computes = useApp().server.computes.all.value.map((one) => [one.compute_id, one.name] as const);
  if (computes.length < 2) return null;
  const change = (value: string) => (computeId.value = value);
  return <ChoiceField label={texts.compute} value={computeId.value} options={computes} onChange={change} />;
}
