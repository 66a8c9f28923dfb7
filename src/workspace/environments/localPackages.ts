import { AppError } from '../../core/errors.ts';
import { fieldOf, numberField, tryParseJson, textField } from '../../core/jsonFields.ts';

// The first one that lists where each package comes from.
const LOWEST_VERSION = 2;
const LOCAL_SOURCE = /^source = \{ (?:editable|directory|path|virtual) = "(.*)" \}$/gm;

/**
 * The path of a package that a package-lock.json takes from the folder.
 *
 * @throws AppError `bad-input` for anything but a lock file of npm 7 or later.
 */
export function localNpmPackage(text: string): string | undefined {
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
  const isLocal = (entry: unknown): boolean =>
    fieldOf(entry, 'link') === true || textField(entry, 'resolved')?.startsWith('file:') === true;
  return Object.entries(packages).find(([, entry]) => isLocal(entry))?.[0];
}

/** The first entry of an environment.yml that pip installs from the folder, or reads from one of its files. */
export function localCondaPackage(text: string): string | undefined {
  return /^\s*-\s*["']?((?:-[erc]\b|--(?:editable|requirement|constraint)\b|\.|\/|file:|[\w.-]+\s*@\s*file:).*?)["']?\s*$/m.exec(
    text,
  )?.[1];
}

/** The folder of a package, besides the project itself, that a uv.lock installs from the folder. */
export function localUvPackage(text: string): string | undefined {
  return [...text.matchAll(LOCAL_SOURCE)].map(([, path]) => path).find((path) => path !== '.');
}
