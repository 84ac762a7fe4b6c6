/** A progress bar; without a fraction it is indeterminate. */
export function Progress({ label, part }: { readonly label: string; readonly part?: number | undefined }) {
  return (
    <div class="progress">
      <progress aria-label={label} {...(part !== undefined && { value: part })} max={1} />
      <small>
        {label}
        {part !== undefined && ` · ${Math.round(part * 100)} %`}
      </small>
    </div>
  );
}

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

export function sizeText(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** power;
  return `${value < 10 && power > 0 ? value.toFixed(1) : Math.round(value)} ${units[power]}`;
}
