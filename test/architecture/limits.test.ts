/** Sizes that CONTRIBUTING promises, read with the compiler: of `src/`, `lab/`, `cli/` and `web/`, without tests. */
import assert from 'node:assert/strict';
import { relative, resolve } from 'node:path';
import { describe, it } from 'node:test';
import type { Node, SourceFile } from 'typescript/unstable/ast';
import { isClassDeclaration, isFunctionLikeDeclaration, isInterfaceDeclaration } from 'typescript/unstable/ast/is';
import { API } from 'typescript/unstable/sync';

const limits = { classMembers: 15, fileLines: 400, functionLines: 60, interfaceMembers: 12, parameters: 4 };

/** Interfaces that are larger than the limit, and why. These lists may only shrink: an entry within its limit fails. */
const largeInterfaces = {
  DockerProperties: "GNS3's properties of a container, one member each",
  Emulator: 'all that a running emulator does, in one place for the author of a kind',
  Kind: 'the table of facts of a kind: most are optional',
  Plan: "all that QEMU's command line depends on",
};
/** Classes that have more public members, and how many: a class is what it does for others. The numbers may only become smaller. */
const largeClasses: Readonly<Record<string, number>> = {
  App: 19,
  ComputeNode: 48,
  ConsoleDock: 16,
  Controller: 33,
  DhcpClient: 18,
  Direction: 20,
  DockerEmulator: 16,
  Fabric: 16,
  FabricClient: 33,
  FabricLink: 16,
  FabricWiring: 19,
  HostedPc: 17,
  KnownProject: 31,
  KnownProjects: 19,
  LabSite: 21,
  LinkSet: 19,
  LiveProject: 30,
  NodeState: 29,
  OpenNode: 38,
  PcHost: 33,
  ProjectNodes: 24,
  ProjectState: 31,
  QemuEmulator: 21,
  RegisteredCompute: 26,
  RouterEmulator: 22,
  TargetTask: 16,
  Viewport: 23,
};
const root = resolve(import.meta.dirname, '../..');

interface Found {
  readonly name: string;
  readonly where: string;
}

const found = {
  classes: {} as Record<string, number>,
  files: [] as Found[],
  functions: [] as Found[],
  interfaces: [] as Found[],
  parameters: [] as Found[],
};
/** Some belong to both programs. */
const seen = new Set<string>();

const api = new API({ cwd: root });
const openProjects = [resolve(root, 'tsconfig.json'), resolve(root, 'web/tsconfig.json')];
for (const { program } of api.updateSnapshot({ openProjects }).getProjects()) {
  for (const path of program.getSourceFileNames()) {
    const file = relative(root, path);
    if (!/^(src|lab|cli|web)\//.test(file) || file.endsWith('.test.ts')) continue;
    const source = program.getSourceFile(path);
    if (!source || seen.has(file)) continue;
    seen.add(file);
    look(file, source);
  }
}
api.close();

function look(file: string, source: SourceFile): void {
  const lineOf = (position: number) => source.getLineAndCharacterOfPosition(position).line;
  const lines = source.text.split('\n').length - 1;
  if (lines > limits.fileLines) found.files.push({ name: file, where: `${lines} lines` });
  const visit = (node: Node): void => {
    const at = `${file}:${lineOf(node.getStart(source)) + 1}`;
    if (isFunctionLikeDeclaration(node)) {
      const name = ('name' in node && textOf(node.name, source)) || at;
      const length = lineOf(node.end) - lineOf(node.getStart(source)) + 1;
      if (length > limits.functionLines) found.functions.push({ name, where: `${at}, ${length} lines` });
      if (node.parameters.length > limits.parameters) found.parameters.push({ name, where: at });
    } else if (isClassDeclaration(node)) {
      const members = new Set(node.members.map((member) => publicName(member, source)).filter((name) => name !== undefined)).size;
      if (members > limits.classMembers) found.classes[node.name?.text ?? at] = members;
    } else if (isInterfaceDeclaration(node)) {
      // Members with quoted names make a table, not an interface.
      const members = node.members.filter(
        (member) => !/^'/.test(textOf('name' in member ? (member.name as Node) : undefined, source) ?? ''),
      ).length;
      if (members > limits.interfaceMembers) found.interfaces.push({ name: node.name.text, where: `${at}, ${members} members` });
    }
    node.forEachChild(visit);
  };
  visit(source);
}

/** Undefined: it is of the class itself, or private. A getter and its setter are one member. */
function publicName(member: Node, source: SourceFile): string | undefined {
  const name = textOf('name' in member ? (member.name as Node) : undefined, source);
  const words = source.text.slice(member.getStart(source), member.end).split(name ?? '(')[0] ?? '';
  return name === undefined || name.startsWith('#') || /\b(static|private|protected)\b/.test(words) ? undefined : name;
}

function textOf(node: Node | undefined, source: SourceFile): string | undefined {
  return node && source.text.slice(node.getStart(source), node.end);
}

/** Fails for a violation missing from the list, and for an entry without a violation. */
function compare(over: readonly Found[], known: Readonly<Record<string, string>> = {}): void {
  const fresh = over.filter(({ name }) => !(name in known)).map(({ name, where }) => `${name} (${where})`);
  assert.deepEqual(fresh, [], 'over the limit');
  const gone = Object.keys(known).filter((name) => !over.some((each) => each.name === name));
  assert.deepEqual(gone, [], 'within the limit now: remove it from the list');
}

describe('limits', () => {
  it('are held against all files', () => assert.ok(seen.size > 400, `${seen.size} files`));
  it(`files have at most ${limits.fileLines} lines`, () => compare(found.files));
  it(`functions have at most ${limits.functionLines} lines`, () => compare(found.functions));
  it(`functions have at most ${limits.parameters} positional parameters`, () => compare(found.parameters));
  it(`classes have at most ${limits.classMembers} public members`, () => {
    assert.deepEqual(found.classes, largeClasses, 'the numbers in this list only become smaller');
  });
  it(`interfaces have at most ${limits.interfaceMembers} members`, () => compare(found.interfaces, largeInterfaces));
});
