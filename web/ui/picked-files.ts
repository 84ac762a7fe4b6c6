/** Files that the user chose or dropped, also in folders, with their paths below the choice. */

export interface PickedFile {
  readonly path: string;
  readonly file: File;
}

/** Limit of files of one choice: a folder may hold anything. */
const mostFiles = 500;

export function chosenFiles(files: FileList | null): PickedFile[] {
  return [...(files ?? [])].slice(0, mostFiles).map((file) => ({ path: file.name, file }));
}

/** Reads dropped files. It must be called in the event, after which they cannot be read. */
export async function droppedFiles(data: DataTransfer | null): Promise<PickedFile[]> {
  const entries = [...(data?.items ?? [])].flatMap((item) => item.webkitGetAsEntry() ?? []);
  const [only] = entries;
  const found: PickedFile[] = [];
  // Paths are those inside a folder that was dropped alone.
  if (entries.length === 1 && only && isDirectory(only)) {
    for (const entry of await entriesOf(only)) await collect(entry, '', found);
  } else {
    for (const entry of entries) await collect(entry, '', found);
  }
  return found;
}

async function collect(entry: FileSystemEntry, folder: string, found: PickedFile[]): Promise<void> {
  if (found.length >= mostFiles) return;
  const path = `${folder}${entry.name}`;
  if (isDirectory(entry)) {
    for (const inner of await entriesOf(entry)) await collect(inner, `${path}/`, found);
  } else {
    const file = await new Promise<File>((settle, refuse) => (entry as FileSystemFileEntry).file(settle, refuse));
    found.push({ path, file });
  }
}

/** The reader gives a hundred at a time. */
async function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const entries: FileSystemEntry[] = [];
  for (;;) {
    const part = await new Promise<FileSystemEntry[]>((settle, refuse) => reader.readEntries(settle, refuse));
    if (part.length === 0 || entries.length > mostFiles) return entries;
    entries.push(...part);
  }
}

function isDirectory(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory;
}
