import { AppError } from '../../core/errors.ts';
import { withoutUserinfo } from '../../core/redact.ts';
import { textField, tryParseJson } from '../../core/jsonFields.ts';
import { isProject } from './lockedRequirements.ts';
import type { PackageFile } from './packageFile.ts';
import { tomlList, parseToml, tomlTexts, tomlValue } from './tomlTables.ts';

/** The lock files that stand beside the file of a project whose packages they lock. */
export type ProjectLock = 'uv' | 'poetry' | 'pdm' | 'npm' | 'pnpm' | 'yarn';

const RELOCK: Readonly<Record<ProjectLock, string>> = {
  uv: 'uv lock',
  poetry: 'poetry lock',
  pdm: 'pdm lock',
  npm: 'npm install',
  pnpm: 'pnpm install',
  yarn: 'yarn install',
};
const SOURCES = ['git', 'url', 'path', 'directory', 'editable', 'virtual'];
// A name of a package, its extras, and the rest (PEP 508).
const REQUIREMENT = /^\s*([A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)\s*(?:\[[^\]]*\])?\s*([^;@]*)(@?)/;

/**
 * Refuses a lock file that is older than its project, because some tools would install it as it is, and others something else.
 *
 * @throws AppError `bad-input` with what the lock file lacks.
 */
export function checkLockAge(format: ProjectLock, lock: PackageFile, project: PackageFile): void {
  const lacking = READERS[format](lock, project);
  if (lacking === undefined) return;
  const message = `${lock.path} does not fit ${project.path}, which asks for ${withoutUserinfo(lacking)}. Run ${RELOCK[format]}, then submit again.`;
  throw new AppError('bad-input', message);
}

/** Returns a package that the project lists and the lock file lacks, or has for another range. */
type Compare = (lock: PackageFile, project: PackageFile) => string | undefined;

const READERS: Readonly<Record<ProjectLock, Compare>> = {
  uv: lackingInUv,
  poetry: lackingByName,
  pdm: lackingByName,
  npm: lackingInNpm,
  pnpm: lackingAmong(/^ {2,}'?((?:@[^\s/@']+\/)?[^\s@':]+)'?:$/),
  yarn: lackingAmong(/^"?((?:@[^\s/@"]+\/)?[^\s@",:]+)@.*:$/),
};

/** Every uv.lock has what the project asked for when it was written. */
function lackingInUv(lock: PackageFile, project: PackageFile): string | undefined {
  const asked = tomlTexts(parseToml(project), 'project', 'dependencies');
  const root = tomlList(parseToml(lock), 'package').find((each) => isProject(tomlValue(each, 'source')));
  if (asked === undefined || root === undefined) return undefined;
  const locked = Map.groupBy(tomlList(root, 'metadata', 'requires-dist'), (each) =>
    normalized(textField(each, 'name') ?? ''),
  );
  return asked.find((line) => {
    const [, name = '', range = '', at = ''] = REQUIREMENT.exec(line) ?? [];
    const entries = locked.get(normalized(name));
    // Of what comes from an address or the folder, uv writes no range.
    const isSame = (each: unknown): boolean =>
      SOURCES.some((key) => tomlValue(each, key) !== undefined) ||
      rangeOf(textField(each, 'specifier') ?? '') === rangeOf(range);
    return entries === undefined || (at === '' && !entries.some(isSame));
  });
}

function lackingByName(lock: PackageFile, project: PackageFile): string | undefined {
  const table = parseToml(project);
  const locked = new Set(tomlList(parseToml(lock), 'package').map((each) => normalized(textField(each, 'name') ?? '')));
  const ofPoetry = Object.entries(tomlValue(table, 'tool', 'poetry', 'dependencies') ?? {})
    .filter(([name, range]) => name !== 'python' && tomlValue(range, 'optional') !== true)
    .map(([name]) => name);
  return [...(tomlTexts(table, 'project', 'dependencies') ?? []), ...ofPoetry].find(
    (line) => !locked.has(normalized(REQUIREMENT.exec(line)?.[1] ?? '')),
  );
}

function lackingInNpm(lock: PackageFile, project: PackageFile): string | undefined {
  const root = tomlValue(tryParseJson(lock.text), 'packages', '');
  // What older versions of npm write has no project.
  if (tomlValue(root, 'dependencies') === undefined && tomlValue(root, 'devDependencies') === undefined) {
    return rangesOf(project)[0];
  }
  const locked = new Set(rangesIn(root));
  return rangesOf(project).find((each) => !locked.has(each));
}

/** Compares by name, because of a range that the project overrides, the lock file has another. @param entry a line with a name. */
function lackingAmong(entry: RegExp): Compare {
  return ({ text }, project) => {
    const names = new Set(text.split(/\r?\n/).flatMap((line) => entry.exec(line)?.[1] ?? []));
    return rangesOf(project).find((each) => !names.has(each.slice(0, each.indexOf('@', 1))));
  };
}

/** `name@range` for each package that a package.json lists. @throws AppError `bad-input` if it is not JSON. */
function rangesOf({ path, text }: PackageFile): readonly string[] {
  const project = tryParseJson(text);
  if (typeof project !== 'object' || project === null)
    throw new AppError('bad-input', `${path} is not valid JSON. Correct it, then submit again.`);
  return rangesIn(project);
}

function rangesIn(project: unknown): readonly string[] {
  return ['dependencies', 'devDependencies', 'optionalDependencies'].flatMap((list) =>
    Object.entries(tomlValue(project, list) ?? {}).map(([name, range]) => `${name}@${String(range)}`),
  );
}

/** As in the Python Packaging User Guide, "Names and normalization". */
function normalized(name: string): string {
  return name.toLowerCase().replaceAll(/[-_.]+/g, '-');
}

function rangeOf(specifier: string): string {
  return specifier
    .replaceAll(/[\s()]/g, '')
    .split(',')
    .filter((each) => each !== '')
    .toSorted()
    .join(',');
}
