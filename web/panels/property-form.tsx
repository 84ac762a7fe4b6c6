/** A form built from a schema: each property gets the control of its type. A property without schema gets the control of its value. */

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { type PropertySchema, wordsOf } from '../catalog/kind-schema.ts';
import { texts } from '../texts.ts';
import { Failure } from '../ui/failure.tsx';
import { ChoiceField, NumberField, SwitchField, TextField } from '../ui/field.tsx';
import { groupsOf, openGroups } from './property-groups.ts';
import { RowsField } from './rows-field.tsx';

interface PropertyFormProps {
  readonly schema: PropertySchema | undefined;
  readonly values: Readonly<Record<string, unknown>>;
  readonly change: (key: string, value: unknown) => unknown;
  /** Why the server refused the values: shown at the property that it names, or above the form. */
  readonly failure?: string;
  /** Keys that this form leaves out. */
  readonly hidden?: readonly string[];
  /** Suggestions by key. */
  readonly options?: Readonly<Record<string, readonly string[]>>;
  /** Properties are shown in groups that fold. Default: one list. */
  readonly grouped?: boolean;
}

export function PropertyForm({
  schema,
  values,
  change,
  hidden = [],
  options = {},
  grouped = false,
  failure = '',
}: PropertyFormProps) {
  const known = Object.keys(schema?.properties ?? {});
  const keys = [...new Set([...known, ...Object.keys(values)])].filter((key) => !hidden.includes(key) && !isComputed(key, schema));
  const words = new Set(failure.match(/\w+/g));
  const refused = keys.filter((key) => words.has(key));
  const fieldOf = (key: string) => (
    <PropertyField
      key={key}
      name={key}
      schema={plainSchema(schema?.properties?.[key], values[key])}
      value={values[key]}
      change={(value) => change(key, value)}
      options={options[key]}
      failure={refused.includes(key) ? failure : undefined}
    />
  );
  return (
    <>
      {refused.length === 0 && <Failure text={failure} />}
      {!grouped && keys.sort(byImportance).map(fieldOf)}
      {grouped &&
        groupsOf(keys).map(([group, members]) => {
          const isRefused = members.some((key) => refused.includes(key));
          return (
            <PropertyGroup
              key={`${group} ${isRefused}`}
              title={texts.propertyGroups[group]}
              isOpen={openGroups.has(group) || isRefused}
            >
              {members.sort(byImportance).map(fieldOf)}
            </PropertyGroup>
          );
        })}
    </>
  );
}

interface PropertyGroupProps {
  readonly title: string;
  readonly isOpen: boolean;
  readonly children: ComponentChildren;
}

function PropertyGroup({ title, isOpen, children }: PropertyGroupProps) {
  const open = useSignal(isOpen);
  return (
    <details class="property-group" open={open.value} onToggle={({ currentTarget }) => (open.value = currentTarget.open)}>
      <summary>{title}</summary>
      <div class="form-grid">{children}</div>
    </details>
  );
}

/** Checksums of images, and properties that a change cannot contain. */
function isComputed(key: string, schema: PropertySchema | undefined): boolean {
  return key.endsWith('_md5sum') || (schema?.properties !== undefined && !(key in schema.properties));
}

const first = ['ram', 'cpus', 'adapters', 'adapter_type', 'hda_disk_image', 'hda_disk_interface', 'cdrom_image', 'boot_priority'];

function byImportance(one: string, other: string): number {
  const rank = (key: string) => (first.includes(key) ? first.indexOf(key) : first.length);
  return rank(one) - rank(other) || one.localeCompare(other);
}

/** The schema without the alternative `null`. */
function plainSchema(schema: PropertySchema | undefined, value: unknown): PropertySchema {
  const branches = schema?.anyOf?.filter(({ type }) => type !== 'null') ?? [];
  const [only] = branches;
  if (schema && only && branches.length === 1) return { ...only, ...(schema.description && { description: schema.description }) };
  if (schema?.type || schema?.enum) return schema;
  const type = Array.isArray(value) ? 'array' : typeof value;
  return { ...schema, type: type === 'number' ? 'integer' : type };
}

interface PropertyFieldProps {
  readonly name: string;
  readonly schema: PropertySchema;
  readonly value: unknown;
  readonly change: (value: unknown) => unknown;
  readonly options?: readonly string[] | undefined;
  readonly failure?: string | undefined;
}

export function PropertyField({ name, schema, value, change, options, failure }: PropertyFieldProps) {
  const label = texts.properties[name] ?? wordsOf(name);
  const { description, minimum, maximum } = schema;
  if (schema.enum)
    return (
      <ChoiceField
        label={label}
        hint={description}
        failure={failure}
        value={String(value ?? '')}
        options={schema.enum.map(String)}
        onChange={change}
      />
    );
  switch (schema.type) {
    case 'boolean':
      return <SwitchField label={label} hint={description} failure={failure} value={value === true} onChange={change} />;
    case 'integer':
    case 'number': {
      const isUnit = /^(MiB|ms|%|px)$/.test(description ?? '');
      const { unit, hint } = isUnit ? { unit: description, hint: undefined } : { unit: undefined, hint: description };
      return (
        <NumberField
          label={label}
          value={typeof value === 'number' ? value : null}
          onChange={change}
          {...{ minimum, maximum, unit, hint, failure }}
        />
      );
    }
    case 'array':
      return (
        <RowsField
          label={label}
          schema={schema.items ?? {}}
          rows={Array.isArray(value) ? value : []}
          change={change}
          failure={failure}
        />
      );
    case 'object':
      return <JsonField label={label} hint={description} failure={failure} value={value ?? {}} change={change} />;
    default:
      return (
        <TextField
          label={label}
          hint={description}
          failure={failure}
          value={typeof value === 'string' ? value : ''}
          onChange={change}
          {...(options && { options })}
          {...(/script|content|options|command/.test(name) && { lines: 2 })}
        />
      );
  }
}

interface JsonFieldProps {
  readonly label: string;
  readonly hint: string | undefined;
  readonly failure: string | undefined;
  readonly value: unknown;
  readonly change: (value: unknown) => unknown;
}

function JsonField({ value, change, ...field }: JsonFieldProps) {
  const read = async (text: string) => {
    let parsed: unknown;
    try {
      parsed = JSON.parse(text);
    } catch (error) {
      throw new Error(texts.notJson((error as Error).message));
    }
    await change(parsed);
  };
  return <TextField {...field} lines={4} value={JSON.stringify(value, null, 1)} onChange={read} />;
}
