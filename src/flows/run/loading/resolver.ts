import { existsSync, statSync } from 'node:fs';
import type { ResolveHookSync } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { AppError, systemCode } from '../../../core/errors.ts';

/** The library's name, and the package that contains it. */
const LIBRARY = 'farwharf/agents';
const TYPESCRIPT_OF: Readonly<Record<string, readonly string[]>> = {
  '.js': ['.ts', '.tsx'],
  '.mjs': ['.mts'],
  '.cjs': ['.cts'],
};
const EXTENSIONS = ['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs', '.json'];
const NOT_FOUND = new Set(['ERR_MODULE_NOT_FOUND', 'ERR_UNSUPPORTED_DIR_IMPORT', 'MODULE_NOT_FOUND']);
const NOT_EXPORTED = new Set([...NOT_FOUND, 'ERR_PACKAGE_PATH_NOT_EXPORTED']);

interface ResolverOptions {
  /** The file of the library that comes with the runner. */
  readonly library: string;
  /** The file of the zod that comes with the runner. */
  readonly schemas: string;
  /** Whether it runs in the workspace of a job, which nobody installs packages in. */
  readonly isJob: boolean;
  /** Called with the copy of the library that the file gets. */
  readonly onLibrary: (path: string) => void;
}

/**
 * Resolves imports as people write them: `./x` and `./x.js` for `x.ts`, and a folder for its index. The library and zod are taken
 * from the folder's own packages if it has them (the versions that run elsewhere too), else from the runner.
 */
export function createResolver({ library, schemas, isJob, onLibrary }: ResolverOptions): ResolveHookSync {
  return (specifier, context, next) => {
    if (specifier === LIBRARY) {
      const resolved = attempt(() => next(specifier, context), NOT_EXPORTED);
      const url =
        resolved !== undefined && existsSync(fileURLToPath(resolved.url)) ? resolved.url : pathToFileURL(library).href;
      onLibrary(fileURLToPath(url));
      return resolved?.url === url ? resolved : { url, shortCircuit: true };
    }
    try {
      return next(specifier, context);
    } catch (error) {
      if (!NOT_FOUND.has(systemCode(error) ?? '')) throw error;
      const parent = context.parentURL?.startsWith('file:') === true ? fileURLToPath(context.parentURL) : undefined;
      if (parent?.includes('/node_modules/') === true) throw error;
      if (specifier === 'zod') return { url: pathToFileURL(schemas).href, shortCircuit: true };
      if (!isPath(specifier)) throw missingPackage(specifier, parent, { isJob, cause: error });
      const source = parent === undefined ? undefined : findSource(specifier, parent);
      if (source === undefined) throw missingFile(specifier, parent, error);
      return { url: pathToFileURL(source).href, shortCircuit: true };
    }
  };
}

function attempt<T>(work: () => T, codes: ReadonlySet<string>): T | undefined {
  try {
    return work();
  } catch (error) {
    if (codes.has(systemCode(error) ?? '')) return undefined;
    throw error;
  }
}

function isPath(specifier: string): boolean {
  return /^(?:\.{0,2}\/|file:|\.{1,2}$)/.test(specifier);
}

function findSource(specifier: string, parent: string): string | undefined {
  const path = specifier.startsWith('file:') ? fileURLToPath(specifier) : join(dirname(parent), specifier);
  const extension = extname(path);
  const stem = path.slice(0, path.length - extension.length);
  const candidates = [
    ...(TYPESCRIPT_OF[extension] ?? []).map((other) => stem + other),
    ...EXTENSIONS.map((other) => path + other),
    ...EXTENSIONS.map((other) => join(path, `index${other}`)),
  ];
  return candidates.find((candidate) => statSync(candidate, { throwIfNoEntry: false })?.isFile() === true);
}

function missingPackage(
  specifier: string,
  parent: string | undefined,
  { isJob, cause }: { readonly isJob: boolean; readonly cause: unknown },
): Error {
  const importer = parent === undefined ? 'The flow' : parent;
  if (/^(?:@\/|~|#)/.test(specifier)) {
    const message =
      `${importer} imports "${specifier}", which is an alias, not a package. Node.js ignores the aliases in tsconfig.json: ` +
      'use a relative import, or an entry under "imports" in package.json.';
    return new AppError('missing', message, { cause });
  }
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
  const what = `${importer} imports the package "${name}", which is not installed`;
  if (isJob) {
    const message = `${what} on the machine of this job. Install it in the folder and send it along (--include node_modules), or install it on that machine.`;
    return new AppError('missing', message, { cause });
  }
  const folder = parent === undefined ? 'its folder' : dirname(nearestManifest(parent) ?? parent);
  return new AppError('missing', `${what}. Run \`npm install ${name}\` in ${folder}.`, { cause });
}

function missingFile(specifier: string, parent: string | undefined, cause: unknown): Error {
  if (parent === undefined) return new AppError('missing', `The file ${specifier} does not exist.`, { cause });
  const message = `${parent} imports "${specifier}", but that file does not exist: ${join(dirname(parent), specifier)}`;
  return new AppError('missing', message, { cause });
}

/** The package.json of the package that contains a file; undefined if there is none. */
export function nearestManifest(file: string): string | undefined {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const manifest = join(folder, 'package.json');
    if (existsSync(manifest)) return manifest;
    if (dirname(folder) === folder) return undefined;
  }
}
