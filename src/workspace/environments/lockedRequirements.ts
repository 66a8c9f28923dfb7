import { AppError } from '../../core/errors.ts';
import { textField } from '../../core/jsonFields.ts';
import type { PackageFile } from './packageFile.ts';
import type { PipRequirements } from './projectPackages.ts';
import { tomlList, parseToml, tomlTexts, tomlValue } from './tomlTables.ts';

/** The lock files of Python that list each package with its hashes. */
export type PythonLock = 'uv' | 'poetry' | 'pdm' | 'pylock';

const PYPI = /^https:\/\/pypi\.org\/simple\/?$/;
const ADDRESS = /^https?:\/\/\S+$/;
const NAME = /^[A-Za-z0-9][\w.-]*$/;
const VERSION = /^[\w.!+*-]+$/;
const HASH = /^(?:sha256|sha384|sha512):[0-9a-f]+$/;
// Where a blank and a dash follow, pip reads options of the line.
const MARKER = /^(?!.*\s-)[^\\#\r\n]+$/;
// A lock file with a thousand packages takes some tens of thousands.
const MAX_STEPS = 2_000_000;

interface Pin {
  readonly name: string;
  readonly version: string;
  readonly marker: string | undefined;
  readonly hashes: readonly string[];
  /** The address of its index; undefined for that of pip. */
  readonly index: string | undefined;
}

/**
 * What pip and uv install for a lock file of Python, whether its own tool exists or not: the packages that the project needs to run, each
 * with its hashes, so that nothing else is installed.
 *
 * @param files the lock file and the pyproject.toml beside it, if it has one.
 * @throws AppError `bad-input` if only its own tool can read it, with the reason.
 */
export function lockedRequirements(
  format: PythonLock,
  [lock, project]: readonly [PackageFile, PackageFile?],
): PipRequirements {
  const table = parseToml(lock);
  const settings = project && parseToml(project);
  const { pins, python, sources = [] } = READERS[format](table, settings, lock.path);
  const indexes = [...sources, ...pins.map(({ index }) => index)].filter((index) => index !== undefined);
  if (indexes.some((index) => !ADDRESS.test(index))) throw needsTool(lock.path, 'it names an index that is no address');
  const lines = indexes.filter((index) => !PYPI.test(index)).map((index) => `--extra-index-url ${index}`);
  for (const { name, version, marker, hashes } of pins) {
    if (!NAME.test(name) || !VERSION.test(version) || (marker !== undefined && !MARKER.test(marker)))
      throw needsTool(lock.path, `${name} cannot be read from it`);
    const known = hashes.filter((hash) => HASH.test(hash));
    if (known.length === 0) throw needsTool(lock.path, `it has no hashes of ${name}`);
    const condition = marker === undefined ? '' : ` ; ${marker}`;
    lines.push(`${name}==${version}${condition} ${known.map((hash) => `--hash=${hash}`).join(' ')}`);
  }
  return { lines: [...new Set(lines)], isLocked: true, python };
}

interface Contents {
  readonly pins: readonly Pin[];
  readonly python: string | undefined;
  /** The addresses of all indexes, if it does not say which package comes from which. */
  readonly sources?: readonly string[];
}

type Read = (table: unknown, project: unknown, path: string) => Contents;

const READERS: Readonly<Record<PythonLock, Read>> = {
  uv: readUv,
  poetry: readPoetry,
  pdm: readPdm,
  pylock: readPylock,
};

/** Poetry 2 writes the groups and the marker of each package (lock-version 2.1). */
function readPoetry(table: unknown, _project: unknown, path: string): Contents {
  const packages = tomlList(table, 'package');
  if (packages.some((each) => tomlTexts(each, 'groups') === undefined))
    throw needsTool(path, 'a version of Poetry before 2 wrote it');
  const pins = packages
    .filter((each) => tomlTexts(each, 'groups')?.includes('main') && tomlValue(each, 'optional') !== true)
    .map((each): Pin => {
      const markers = tomlValue(each, 'markers');
      const source = tomlValue(each, 'source');
      refuseSource(path, each, source, ['legacy']);
      return {
        ...pinOf(each),
        marker: typeof markers === 'string' ? markers : textField(markers, 'main'),
        index: textField(source, 'url'),
      };
    });
  return { pins, python: pep440Of(textField(tomlValue(table, 'metadata'), 'python-versions')) };
}

/** PDM writes the groups and the marker of each package if its strategy has `inherit_metadata`, which is the default since 2.11. */
function readPdm(table: unknown, project: unknown, path: string): Contents {
  if (tomlTexts(table, 'metadata', 'strategy')?.includes('inherit_metadata') !== true)
    throw needsTool(path, 'it does not say which groups each package belongs to');
  const pins = tomlList(table, 'package')
    .filter((each) => tomlTexts(each, 'groups')?.includes('default'))
    .map((each): Pin => {
      refuseSource(path, each, ['git', 'url', 'path'].some((key) => tomlValue(each, key) !== undefined) || undefined);
      return { ...pinOf(each), marker: textField(each, 'marker'), index: undefined };
    });
  const sources = tomlList(project, 'tool', 'pdm', 'source').flatMap((source) => textField(source, 'url') ?? []);
  return { pins, sources, python: textField(tomlValue(project, 'project'), 'requires-python') };
}

/** PEP 751, "File Format". */
function readPylock(table: unknown, _project: unknown, path: string): Contents {
  const pins = tomlList(table, 'packages').map((each): Pin => {
    refuseSource(
      path,
      each,
      ['vcs', 'directory', 'archive'].some((key) => tomlValue(each, key) !== undefined) || undefined,
    );
    const marker = textField(each, 'marker');
    if (marker !== undefined && /\b(?:extras|dependency_groups)\b/.test(marker))
      throw needsTool(path, `${nameOf(each)} belongs to an extra or a group of dependencies`);
    const files = [...tomlList(each, 'wheels'), tomlValue(each, 'sdist')];
    const hashes = files.flatMap((file) =>
      Object.entries(tomlValue(file, 'hashes') ?? {}).map(([kind, value]) => `${kind}:${String(value)}`),
    );
    return { ...pinOf(each), hashes, marker, index: textField(each, 'index') };
  });
  return { pins, python: textField(table, 'requires-python') };
}

/** The packages that the project reaches in the graph of a uv.lock, as `uv sync` installs them. */
function readUv(table: unknown, project: unknown, path: string): Contents {
  const packages = tomlList(table, 'package');
  const root = packages.find((each) => isProject(tomlValue(each, 'source')));
  if (root === undefined) throw needsTool(path, 'it has no project');
  const conditions = reach(packages, root, edgesOf(root, project), path);
  conditions.delete(root);
  const pins = [...conditions].map(([each, alternatives]): Pin => {
    const source = tomlValue(each, 'source');
    refuseSource(path, each, textField(source, 'registry') === undefined ? source : undefined);
    const files = [...tomlList(each, 'wheels'), tomlValue(each, 'sdist')];
    const hashes = files.flatMap((file) => textField(file, 'hash') ?? []);
    return { ...pinOf(each), hashes, marker: markerOf(alternatives), index: textField(source, 'registry') };
  });
  return { pins, python: textField(table, 'requires-python') };
}

/** Whether it is the project that the lock file is of. */
export function isProject(source: unknown): boolean {
  return ['virtual', 'editable'].some((key) => textField(source, key) === '.');
}

/** What the project depends on, with the groups that uv installs by default. */
function edgesOf(root: unknown, project: unknown): readonly unknown[] {
  const groups = tomlValue(root, 'dev-dependencies');
  const chosen = tomlValue(project, 'tool', 'uv', 'default-groups') ?? ['dev'];
  const names = chosen === 'all' ? Object.keys(groups ?? {}) : Array.isArray(chosen) ? chosen.map(String) : [];
  return [...tomlList(root, 'dependencies'), ...names.flatMap((name) => tomlList(groups, name))];
}

/** Markers that must all be true. */
type Conjunction = ReadonlySet<string>;

/** The packages that are reached, each with the sets of markers of the ways to it. */
function reach(
  packages: readonly unknown[],
  root: unknown,
  first: readonly unknown[],
  path: string,
): Map<unknown, readonly Conjunction[]> {
  const byName = Map.groupBy(packages, nameOf);
  const reached = new Map<unknown, readonly Conjunction[]>();
  const extras = new Map<string, readonly Conjunction[]>();
  const waiting: { readonly edge: unknown; readonly given: Conjunction }[] = [];
  const follow = (edges: readonly unknown[], given: Conjunction): void => {
    for (const edge of edges) waiting.push({ edge, given });
  };
  reached.set(root, [new Set()]);
  follow(first, new Set());
  let steps = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { edge, given } = next;
    const named = byName.get(nameOf(edge)) ?? [];
    const known = named.reduce<number>((sum, each) => sum + (reached.get(each)?.length ?? 0), 0);
    steps += 1 + named.length + (1 + known) * (1 + given.size);
    if (steps > MAX_STEPS) throw needsTool(path, 'it has too many conditions');
    const marker = textField(edge, 'marker');
    if (marker !== undefined && /\bextra\b/.test(marker)) throw needsTool(path, 'it has conflicting extras');
    const met: Conjunction = marker === undefined ? given : new Set([...given, marker]);
    const version = textField(edge, 'version');
    const targets = named.filter((each) => version === undefined || textField(each, 'version') === version);
    for (const target of targets) {
      if (add(reached, target, met)) follow(tomlList(target, 'dependencies'), met);
      for (const extra of tomlTexts(edge, 'extra') ?? []) {
        const key = JSON.stringify([nameOf(target), textField(target, 'version'), extra]);
        if (add(extras, key, met)) follow(tomlList(target, 'optional-dependencies', extra), met);
      }
    }
  }
  return reached;
}

/** Whether a way says more than those that are known. */
function add<K>(known: Map<K, readonly Conjunction[]>, key: K, met: Conjunction): boolean {
  const before = known.get(key) ?? [];
  if (before.some((each) => each.isSubsetOf(met))) return false;
  known.set(key, [...before.filter((each) => !met.isSubsetOf(each)), met]);
  return true;
}

function markerOf(alternatives: readonly Conjunction[]): string | undefined {
  if (alternatives.some(({ size }) => size === 0)) return undefined;
  return alternatives
    .map((markers) => [...markers].map((marker) => `(${marker})`).join(' and '))
    .map((markers) => (alternatives.length === 1 ? markers : `(${markers})`))
    .join(' or ');
}

function pinOf(each: unknown): Pick<Pin, 'name' | 'version' | 'hashes'> {
  const hashes = tomlList(each, 'files').flatMap((file) => textField(file, 'hash') ?? []);
  return { name: nameOf(each), version: textField(each, 'version') ?? '', hashes };
}

function nameOf(each: unknown): string {
  return textField(each, 'name') ?? '';
}

/** @throws AppError `bad-input` for a package that comes from a repository, an address or the folder. */
function refuseSource(path: string, each: unknown, source: unknown, allowed: readonly string[] = []): void {
  if (source === undefined || allowed.includes(textField(source, 'type') ?? '')) return;
  throw needsTool(path, `${nameOf(each)} comes from no index`);
}

/** A range of Poetry's as in PEP 440; undefined if it says nothing or is too different. */
function pep440Of(range: string | undefined): string | undefined {
  if (range === undefined || range === '*' || range.includes('|')) return undefined;
  return range.replaceAll(/[\^~](?!=)/g, '>=');
}

function needsTool(path: string, why: string): AppError {
  return new AppError('bad-input', `${path} can only be installed with the tool that wrote it, because ${why}`);
}
