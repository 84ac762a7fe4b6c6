/** The impairments of a link: presets, and every filter of the server, for both directions or for one. Changes apply immediately. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { FilterFacts } from '../../src/schema/filter-table.ts';
import type { Link } from '../../src/schema/link.ts';
import { endNames } from '../scene/link-view.tsx';
import { useApp, useProject } from '../state/app.ts';
import { texts } from '../texts.ts';
import { Button } from '../ui/button.tsx';
import { Notice } from '../ui/notice.tsx';
import { tabKeys } from '../ui/tab-keys.ts';
import { FilterField } from './filter-field.tsx';
import { countOf, edited, type FilterObject, filterGroups, keyOf, mainTypes, offeredTypes, turned, type Way } from './form.ts';
import { PresetMenu } from './preset-menu.tsx';
import { useFilterDraft } from './use-filter-draft.ts';

const ways: readonly Way[] = ['both', 'ab', 'ba'];

export function Impairments({ link }: { readonly link: Link }) {
  const { api, toasts } = useApp();
  const project = useProject();
  const facts = useSignal<readonly FilterFacts[]>([]);
  const way = useSignal<Way>('both');
  const { filters, failure, set } = useFilterDraft(link);
  useEffect(() => {
    void toasts.attempt(async () => {
      facts.value = await api.get<FilterFacts[]>(`${project.path}/links/${link.link_id}/available_filters`);
    });
  }, [api, toasts, project, link.link_id, facts]);
  const names = endNames(project, link);
  const hasWays = countOf(filters, 'ab') + countOf(filters, 'ba') > 0;
  return (
    <section class="impairments" aria-label={texts.impair.title}>
      <header class="panel-head">
        <h3>{texts.impair.title}</h3>
        {hasWays && <Button icon="swap" kind="quiet" label={texts.impair.turn} onClick={() => set(turned(filters))} />}
        {Object.keys(filters).length > 0 && <Button onClick={() => set({})}>{texts.impair.clear}</Button>}
      </header>
      {failure && <Notice level="error">{failure}</Notice>}
      <PresetMenu filters={filters} names={names} set={set} />
      <div
        class="ways"
        role="tablist"
        aria-label={texts.impair.ways}
        onKeyDown={(event) => tabKeys(event, (place) => (way.value = ways[place] ?? 'both'))}
      >
        {ways.map((one) => (
          <button
            key={one}
            type="button"
            role="tab"
            aria-selected={way.value === one}
            tabIndex={way.value === one ? 0 : -1}
            title={texts.impair.way(one, names)}
            onClick={() => {
              way.value = one;
            }}
          >
            <span class="way">{texts.impair.way(one, names)}</span>
            {countOf(filters, one) > 0 && <span class="count">{countOf(filters, one)}</span>}
          </button>
        ))}
      </div>
      <FilterForms key={way.value} facts={offeredTypes(facts.value, way.value)} way={way.value} filters={filters} set={set} />
    </section>
  );
}

interface FormsProps {
  readonly facts: readonly FilterFacts[];
  readonly way: Way;
  readonly filters: FilterObject;
  readonly set: (filters: FilterObject) => void;
}

function FilterForms({ facts, way, filters, set }: FormsProps) {
  const form = (row: FilterFacts) => <FilterForm key={row.type} facts={row} way={way} filters={filters} set={set} />;
  const rest = facts.filter(({ type }) => !mainTypes.includes(type));
  const acting = rest.filter(({ type }) => filters[keyOf(type, way)] !== undefined).length;
  const grouped = Object.entries(filterGroups).map(
    ([group, types]) => [group as keyof typeof filterGroups | 'others', types.flatMap((type) => find(rest, type))] as const,
  );
  const known: readonly string[] = Object.values(filterGroups).flat();
  const others = ['others', rest.filter(({ type }) => !known.includes(type))] as const;
  // Filters that act are in sight; what the user opened stays open.
  const isOpen = useSignal(acting > 0);
  return (
    <>
      <div class="main-filters">{mainTypes.flatMap((type) => find(facts, type)).map(form)}</div>
      <details class="more-filters" open={isOpen.value} onToggle={({ currentTarget }) => (isOpen.value = currentTarget.open)}>
        <summary>
          {texts.impair.more}
          {acting > 0 && <span class="count">{acting}</span>}
        </summary>
        {[...grouped, others]
          .filter(([, rows]) => rows.length > 0)
          .map(([group, rows]) => (
            <fieldset key={group}>
              <legend>{texts.impair.groups[group]}</legend>
              {rows.map(form)}
            </fieldset>
          ))}
      </details>
    </>
  );
}

const find = (facts: readonly FilterFacts[], type: string) => facts.filter((one) => one.type === type);

/** A round trip takes twice the delay that is set for both ways. */
const labelOf = (name: string, isEachWay: boolean) => (isEachWay ? texts.impair.eachWay(name) : name);

function FilterForm({ facts, way, filters, set }: Omit<FormsProps, 'facts'> & { readonly facts: FilterFacts }) {
  const { type, name, description, parameters } = facts;
  const values = filters[keyOf(type, way)];
  const inherited = way === 'both' ? undefined : filters[type];
  return (
    <div class={values ? 'filter acts' : 'filter'} title={description}>
      {parameters.length > 1 && <strong>{name}</strong>}
      <div class="filter-values">
        {parameters.map((parameter, place) => (
          <FilterField
            key={parameter.name}
            parameter={parameter}
            label={labelOf(parameters.length > 1 ? parameter.name : name, way === 'both' && type === 'delay' && place === 0)}
            value={values?.[place]}
            inherited={inherited?.[place]}
            onChange={(value) => set(edited(filters, { facts, way, place, value }))}
          />
        ))}
      </div>
    </div>
  );
}
