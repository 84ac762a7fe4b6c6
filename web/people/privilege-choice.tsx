/** Boxes to tick for privileges, in groups of what they are about. */
import type { RolePrivilege } from './people-api.ts';

interface PrivilegeChoiceProps {
  readonly known: readonly RolePrivilege[];
  readonly chosen: ReadonlySet<string>;
  readonly choose: (chosen: ReadonlySet<string>) => void;
  readonly disabled?: boolean;
}

export function PrivilegeChoice({ known, chosen, choose, disabled = false }: PrivilegeChoiceProps) {
  const areas = Map.groupBy(known, ({ name }) => name.slice(0, name.indexOf('.')));
  const set = (name: string, isOn: boolean) => {
    const next = new Set(chosen);
    if (isOn) next.add(name);
    else next.delete(name);
    choose(next);
  };
  return (
    <div class="privileges">
      {[...areas].map(([area, privileges]) => (
        <fieldset key={area} disabled={disabled}>
          <legend>{area}</legend>
          {privileges.map(({ name, description }) => (
            <label key={name} title={description}>
              <input
                type="checkbox"
                checked={chosen.has(name)}
                aria-label={name}
                onChange={({ currentTarget }) => set(name, currentTarget.checked)}
              />
              {name.slice(name.indexOf('.') + 1)}
            </label>
          ))}
        </fieldset>
      ))}
    </div>
  );
}
