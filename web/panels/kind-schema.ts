/** The schemas of node kinds, from the server's own description of its API. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { App } from '../state/app.ts';

/** JSON Schema, as far as forms are made of it. */
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
  readonly default?: unknown;
  readonly $ref?: string;
}

interface ApiDocument {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { requestBody?: { content: Record<string, { schema: PropertySchema }> } }>>>
  >;
  readonly components?: { readonly schemas?: Readonly<Record<string, PropertySchema>> };
}

/** What can be set of a node of this kind; undefined while it is not known. */
export function useKindSchema({ api, server }: App, nodeType: string): PropertySchema | undefined {
  const schema = useSignal<PropertySchema | undefined>(undefined);
  const isDescribed = server.routes.value.size > 0;
  useEffect(() => {
    if (!isDescribed) return;
    const read = async () => {
      const document = await api.get<ApiDocument>('/openapi.json');
      const route = document.paths[`/v2/compute/projects/{project_id}/${nodeType}/nodes/{node_id}`]?.put;
      const body = route?.requestBody?.content['application/json']?.schema;
      schema.value = body && resolved(body, document);
    };
    read().catch(() => undefined);
  }, [nodeType, isDescribed]);
  return schema.value;
}

/** With what `$ref` names in its place. */
function resolved(schema: PropertySchema, document: ApiDocument): PropertySchema {
  const name = schema.$ref?.split('/').at(-1);
  const found = name === undefined ? schema : (document.components?.schemas?.[name] ?? {});
  const { anyOf, items, properties } = found;
  return {
    ...found,
    ...(anyOf && { anyOf: anyOf.map((one) => resolved(one, document)) }),
    ...(items && { items: resolved(items, document) }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([key, one]) => [key, resolved(one, document)])),
    }),
  };
}

/** `hda_disk_image` as words. */
export function wordsOf(key: string): string {
  const words = key.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
