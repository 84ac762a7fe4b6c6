/** The commands that were run last from the command menu, newest first. Stored in the tab: they name nodes, and signing out clears them. */
const key = 'patchbay.recentCommands';
const most = 5;
const longest = 200;

/** Texts that were typed, for commands with arguments, or ids of entries. */
export function recentCommands(): readonly string[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(key) ?? '[]');
    return Array.isArray(kept) ? kept.filter((one): one is string => typeof one === 'string').slice(0, most) : [];
  } catch {
    return [];
  }
}

export function keepCommand(command: string): void {
  if (command.length > longest) return;
  const kept = [command, ...recentCommands().filter((one) => one !== command)].slice(0, most);
  sessionStorage.setItem(key, JSON.stringify(kept));
}
