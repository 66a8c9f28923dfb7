import { dirname, join, normalize } from 'node:path/posix';
import { AppError } from '../../core/errors.ts';
import { withoutUserinfo } from '../../core/redact.ts';
import { fieldOf, numberField, tryParseJson, textField } from '../../core/jsonFields.ts';

// The first one that lists where each package comes from.
const LOWEST_VERSION = 2;

/** A package that a lock file takes from the disk. */
export interface LocalPackage {
  /** What people call it. */
  readonly name: string;
  /** As the lock file has it, relative to its folder. */
  readonly path: string;
}

/**
 * The packages that a package-lock.json takes from the folder.
 *
 * @throws AppError `bad-input` for anything but a lock file of npm 7 or later.
 */
export function localNpmPackages(text: string): readonly LocalPackage[] {
  const lock = tryParseJson(text);
  const packages = fieldOf(lock, 'packages');
  if (
    (numberField(lock, 'lockfileVersion') ?? 0) < LOWEST_VERSION ||
    typeof packages !== 'object' ||
    packages === null
  ) {
    const message = 'package-lock.json is not a lock file of npm 7 or later. Run npm install, then submit again.';
    throw new AppError('bad-input', message);
  }
  return Object.entries(packages).flatMap(([name, entry]) => {
    const resolved = textField(entry, 'resolved') ?? '';
    const isLocal = fieldOf(entry, 'link') === true || resolved.startsWith('file:');
    return isLocal ? [{ name, path: resolved.replace(/^file:/, '') }] : [];
  });
}

// Each is a field of a line of its own, as the tools write it, so that a lock file of 30 MB is read in a pass.
const PATHS = {
  uv: /^source = \{ (?:editable|directory|path|virtual) = "([^"\n]*)" \}$/gm,
  poetry: /^type = "(?:directory|file)"\nurl = "([^"\n]*)"$/gm,
  pdm: /^path = "([^"\n]*)"$/gm,
  pylock: /^(?:path|(?:directory|archive)(?: = \{.*|\.)\bpath) = "([^"\n]*)"/gm,
  pnpm: /\b(?:specifier|version|resolution): ?(?:\{directory: )?['"]?(?:link:|file:|(?<=directory: ))([^\s'"},()]+)/g,
  // Both formats: `"a@file:./a":` and `"a@workspace:a"`.
  yarn: /^"?(?:@[^@\s/"]+\/)?[^@\s"]+@(?:file|link|portal|workspace):([^"\s,#]+?)(?=::|:?(?:[",#\s]|$))/gm,
} as const;

/** The packages that a lock file takes from the folder, besides the project itself. */
export function localPackages(format: keyof typeof PATHS, text: string): readonly LocalPackage[] {
  return [...text.replaceAll('\r\n', '\n').matchAll(PATHS[format])]
    .map(([, path = '']) => path)
    .filter((path) => path !== '.' && path !== '')
    .map((path) => ({ name: path, path }));
}

/** The packages of a renv.lock that come from the disk. */
export function localRenvPackages(text: string): readonly LocalPackage[] {
  const packages = fieldOf(tryParseJson(text), 'Packages');
  if (typeof packages !== 'object' || packages === null) {
    throw new AppError('bad-input', 'renv.lock is not a lock file of renv. Run renv::snapshot(), then submit again.');
  }
  return Object.entries(packages).flatMap(([name, entry]) => {
    const isLocal = textField(entry, 'Source') === 'Local' || textField(entry, 'RemoteType') === 'local';
    return isLocal ? [{ name, path: textField(entry, 'RemoteUrl') ?? name }] : [];
  });
}

const LOCAL_ENTRY = /^(?:-[erc]\b|--(?:editable|requirement|constraint)\b|\.|\/|file:|[\w.-]+\s*@\s*file:)/;

/** The first entry of an environment.yml that pip installs from the folder, or reads from one of its files. */
export function localCondaPackage(text: string): string | undefined {
  // Line by line, because a pattern for all lines would try each empty line anew.
  for (const line of text.split('\n')) {
    const item = line.trim();
    const entry = item.startsWith('-')
      ? item
          .slice(1)
          .trim()
          .replaceAll(/^["']|["']$/g, '')
      : '';
    if (LOCAL_ENTRY.test(entry)) return withoutUserinfo(entry);
  }
  return undefined;
}

/** @throws AppError `bad-input` for a package outside of the folder, which no job has. @param lock the path of the lock file. */
export function refuseOutside(lock: string, packages: readonly LocalPackage[]): void {
  const outside = packages.find(({ path }) => {
    const target = normalize(join(dirname(lock), path.replaceAll('\\', '/')));
    return /^(?:[/\\~]|[a-z]:)/i.test(path) || target === '..' || target.startsWith('../');
  });
  if (outside === undefined) return;
  const message = `${lock} takes ${outside.path} from outside of the folder, which jobs do not have. Move it into the folder, lock again, then submit again.`;
  throw new AppError('bad-input', message);
}
