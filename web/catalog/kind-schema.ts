/** The schemas of node kinds, from the server. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { App } from '../state/app.ts';

/** JSON Schema, as far as forms use it. */
export interface PropertySchema {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly anyOf?: readonly PropertySchema[];
  readonly items?: PropertySchema;
  readonly properties?: Readonly<Record<string, PropertySchema>>;
  readonly required?: readonly string[];
  readonly default?: unknown;
}

/** Schemas of a kind's nodes and templates; `template` is null for kinds whose templates clients cannot create. */
export interface KindForms {
  readonly node: PropertySchema;
  readonly template: PropertySchema | null;
}

/** Undefined until it is loaded. `platform`: for kinds whose properties depend on it. */
export function useKindForms({ api }: App, nodeType: string, platform?: string): KindForms | undefined {
  const forms = useSignal<{ of: string; read: KindForms } | undefined>(undefined);
  const path = `/v2/kinds/${nodeType}/schemas${platform ? `?platform=${encodeURIComponent(platform)}` : ''}`;
  useEffect(() => {
    let isStale = false;
    api.get<KindForms>(path).then(
      (read) => {
        if (!isStale) forms.value = { of: path, read };
      },
      () => undefined,
    );
    return () => {
      isStale = true;
    };
  }, [path]);
  return forms.value?.of === path ? forms.value.read : undefined;
}

/** Turns `hda_disk_image` into words. */
export function wordsOf(key: string): string {
  const words = key.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
