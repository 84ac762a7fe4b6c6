/** Generates shell completion from the declarations of the commands. */
import type { CliCommand, CliOption } from './command.ts';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/** Returns the completion script of a shell. `first`: words that may follow `patchbay`. */
export function completionScript(shell: Shell, commands: readonly CliCommand[], first: readonly string[]): string {
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell](commands, first);
}

const verbOf = ({ name }: CliCommand): string => name.split(' ')[1] ?? '';
/** Groups the commands of two words by their first one. */
const groupsOf = (commands: readonly CliCommand[]): [string, CliCommand[]][] =>
  Object.entries(Object.groupBy(commands, ({ name }) => name.split(' ', 1)[0] ?? '') as Record<string, CliCommand[]>)
    .map(([group, all]): [string, CliCommand[]] => [group, all.filter((command) => verbOf(command) !== '')])
    .filter(([, all]) => all.length > 0);
const flagsOf = ({ options }: CliCommand): string[] => [...Object.keys(options).map((key) => `--${key}`), '--help'];

function bashScript(commands: readonly CliCommand[], first: readonly string[]): string {
  const groups = groupsOf(commands);
  const verbs = groups.map(([group, all]) => `    ${group}) verbs="${all.map(verbOf).join(' ')}" ;;`);
  const cases = groups
    .flatMap(([, all]) => all)
    .map((command) => `    "${command.name}") words="${flagsOf(command).join(' ')}" ;;`);
  return `# Completion of patchbay for bash: source <(patchbay completion bash)
_patchbay() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words="" verbs=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${first.join(' ')}" -- "$current"))
    return
  fi
  if [ "\${COMP_WORDS[1]}" = completion ]; then
    COMPREPLY=($(compgen -W "${shells.join(' ')}" -- "$current"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${verbs.join('\n')}
    *) return ;;
  esac
  if [ "$COMP_CWORD" -eq 2 ]; then
    COMPREPLY=($(compgen -W "$verbs" -- "$current"))
    return
  fi
  case "\${COMP_WORDS[1]} \${COMP_WORDS[2]}" in
${cases.join('\n')}
  esac
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
    *) COMPREPLY=($(compgen -f -- "$current")) ;;
  esac
}
complete -F _patchbay patchbay
`;
}

function zshScript(commands: readonly CliCommand[], first: readonly string[]): string {
  const text = (words: string) =>
    words.replaceAll("'", "'\\''").replaceAll(':', '\\:').replaceAll('[', '\\[').replaceAll(']', '\\]');
  const option = ([key, { description, value, isFile }]: [string, CliOption]) =>
    `'--${key}[${text(description)}]${value === undefined ? '' : `:${value.toLowerCase()}:${isFile ? '_files' : ''}`}'`;
  const groups = groupsOf(commands);
  const verbs = groups.map(
    ([group, all]) =>
      `      ${group}) verbs=(${all.map((command) => `'${verbOf(command)}:${text(command.summary)}'`).join(' ')}) ;;`,
  );
  const cases = groups
    .flatMap(([, all]) => all)
    .map(
      (command) => `    '${command.name}') _arguments ${Object.entries(command.options).map(option).join(' ')} '*:file:_files' ;;`,
    );
  return `#compdef patchbay
# Completion of patchbay for zsh: source <(patchbay completion zsh)
_patchbay() {
  if (( CURRENT == 2 )); then
    _values command ${first.join(' ')}
    return
  fi
  if [[ $words[2] == completion ]]; then
    _values shell ${shells.join(' ')}
    return
  fi
  if (( CURRENT == 3 )); then
    local -a verbs
    case $words[2] in
${verbs.join('\n')}
      *) return ;;
    esac
    _describe command verbs
    return
  fi
  local command="$words[2] $words[3]"
  shift 2 words
  (( CURRENT -= 2 ))
  case $command in
${cases.join('\n')}
  esac
}
compdef _patchbay patchbay
`;
}

function fishScript(commands: readonly CliCommand[], first: readonly string[]): string {
  const quoted = (text: string) => `'${text.replaceAll(/['\\]/g, '\\$&')}'`;
  const lines = groupsOf(commands).flatMap(([group, all]) => {
    const verbs = all.map(verbOf).join(' ');
    const inGroup = `__fish_seen_subcommand_from ${group}`;
    return all.flatMap((command) => [
      `complete -c patchbay -n '${inGroup}; and not __fish_seen_subcommand_from ${verbs}' -f -a ${verbOf(command)} -d ${quoted(command.summary)}`,
      ...Object.entries(command.options).map(
        ([key, { description, value, short }]) =>
          `complete -c patchbay -n '${inGroup}; and __fish_seen_subcommand_from ${verbOf(command)}' -l ${key}${short ? ` -s ${short}` : ''}${value === undefined ? '' : ' -r'} -d ${quoted(description)}`,
      ),
    ]);
  });
  return `# Completion of patchbay for fish: patchbay completion fish | source
complete -c patchbay -n __fish_use_subcommand -f -a '${first.join(' ')}'
complete -c patchbay -n '__fish_seen_subcommand_from completion' -f -a '${shells.join(' ')}'
${lines.join('\n')}
`;
}
