/** Writes `docs/configuration.md`: every option and setting with its default, from the tables that the program reads. */
import { type Option, optionUsage, serveOptions } from './command-line.ts';
import { type Setting, settingsTable } from './schema/settings.ts';

const foldersOfDataDirectory = 'below the data directory';

export function configurationPage(): string {
  return `# Configuration

<!-- Printed by \`npm start -- configuration\`; a test compares. -->

Options of the command line win over the configuration file, which wins over the defaults.

## Options of \`npm start --\`

| option | |
|---|---|
${Object.entries<Option>(serveOptions).map(optionRow).join('\n')}

## Settings

\`npm start -- --config FILE\` reads a file in INI form. A configuration file of GNS3 2.2 can be used as it is; unknown
sections and keys are ignored. True, yes, on and 1 mean on; False, no, off and 0 mean off. Settings marked ● are GNS3's,
those marked ○ are Patchbay's.

${Object.entries(settingsTable).map(sectionText).join('\n\n')}
`;
}

function optionRow([name, option]: [string, Option]): string {
  return `| \`${optionUsage(name, option)}\` | ${option.description} |`;
}

function sectionText([section, keys]: [string, Readonly<Record<string, Setting>>]): string {
  const rows = Object.entries(keys).map(([key, { value, description, isGns3 }]) => {
    return `| \`${key}\` | ${isGns3 ? '●' : '○'} | ${defaultText(key, value)} | ${description} |`;
  });
  return `### \`[${section}]\`\n\n| setting | | default | |\n|---|---|---|---|\n${rows.join('\n')}`;
}

function defaultText(key: string, value: Setting['value']): string {
  if (typeof value === 'boolean') return value ? '`True`' : '`False`';
  if (value !== '') return `\`${value}\``;
  return key.endsWith('s_path') && key !== 'additional_images_path' ? foldersOfDataDirectory : '(empty)';
}
