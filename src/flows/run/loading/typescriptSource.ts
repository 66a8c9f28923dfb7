import { readFileSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AppError, messageOf, systemCode } from '../../../core/errors.ts';
import { nearestManifest } from './resolver.ts';

const UNSUPPORTED = 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX';
const INVALID = 'ERR_INVALID_TYPESCRIPT_SYNTAX';
const UNKNOWN_EXTENSION = 'ERR_UNKNOWN_FILE_EXTENSION';
const NO_TYPESCRIPT = 'ERR_NO_TYPESCRIPT';

interface LoaderListener {
  /** A file is about to be loaded, and compiled right after. */
  readonly onLoad: (url: string) => void;
  /** A file was transformed, with the reason. */
  readonly onTransform: (file: string, what: string) => void;
  /** Rewrites syntax that cannot be removed; undefined if Node.js does that itself. */
  readonly toErasable: ((text: string) => string) | undefined;
  /** Leaves out imports of which only types are used. */
  readonly withoutTypeImports: (text: string) => string;
}

/** The transformations of TypeScript. Node.js 25 and newer only remove types. */
export async function findTransforms(): Promise<Pick<LoaderListener, 'toErasable' | 'withoutTypeImports'>> {
  const { withoutTypeImports } = await import('./typeImports.ts');
  if (Number.parseInt(process.versions.node, 10) < 25) return { withoutTypeImports, toErasable: undefined };
  const { toErasable } = await import('./erasable.ts');
  return { withoutTypeImports, toErasable };
}

/**
 * Loads modules as Node does, and transforms TypeScript that Node does not run, but other runners do: syntax that cannot be removed (enums,
 * namespaces, parameter properties), and imports of types that do not say so.
 */
export function createLoader({
  onLoad,
  onTransform,
  toErasable,
  withoutTypeImports,
}: LoaderListener): nodeModule.LoadHookSync {
  return (url, context, next) => {
    onLoad(url);
    if (/\.[jt]sx$/.test(url)) {
      throw new AppError(
        'bad-input',
        `${fileOf(url)} contains JSX, which Node.js cannot run. Use a .ts, .mts, .js or .mjs file.`,
      );
    }
    try {
      const loaded = next(url, context);
      if (loaded.format?.endsWith('-typescript') !== true || loaded.source === undefined) return loaded;
      const text = textOf(loaded.source);
      // Tried here, because Node itself would throw after the hook.
      nodeModule.stripTypeScriptTypes(text, { mode: 'strip' });
      return { ...loaded, source: withoutTypeImports(text) };
    } catch (error) {
      const code = systemCode(error);
      if (code === INVALID) throw withPlace(error, url);
      if (code === UNKNOWN_EXTENSION || code === NO_TYPESCRIPT) throw withoutTypes(url, error);
      if (code !== UNSUPPORTED) throw error;
      const result = transformed(url, error, { toErasable, withoutTypeImports });
      onTransform(fileOf(url), messageOf(error));
      return { ...result, shortCircuit: true };
    }
  };
}

function transformed(
  url: string,
  cause: unknown,
  { toErasable, withoutTypeImports }: Pick<LoaderListener, 'toErasable' | 'withoutTypeImports'>,
): { format: 'module' | 'commonjs'; source: string } {
  const file = fileOf(url);
  const text = withoutTypeImports(readFileSync(file, 'utf8'));
  let source: string;
  try {
    source =
      toErasable === undefined
        ? nodeModule.stripTypeScriptTypes(text, { mode: 'transform', sourceMap: true, sourceUrl: url })
        : nodeModule.stripTypeScriptTypes(toErasable(text), { mode: 'strip', sourceUrl: url });
  } catch (error) {
    if (systemCode(error) === INVALID) throw withPlace(error, url);
    const why = messageOf(cause);
    throw new AppError(
      'bad-input',
      `${file} cannot run: ${why}. Use only TypeScript syntax that can be removed, such as a const object instead of an enum.`,
      { cause: error },
    );
  }
  process.setSourceMapsEnabled(true); // otherwise errors and breakpoints would have the positions of the result
  return { format: formatOf(file, source), source };
}

/** Decides as Node does: by the extension, then the package, then the syntax. */
function formatOf(file: string, source: string): 'module' | 'commonjs' {
  const extension = extname(file);
  if (extension === '.mts') return 'module';
  if (extension === '.cts') return 'commonjs';
  const path = nearestManifest(file);
  const manifest: unknown = path === undefined ? undefined : JSON.parse(readFileSync(path, 'utf8'));
  const type = typeof manifest === 'object' && manifest !== null && 'type' in manifest ? manifest.type : undefined;
  if (type === 'module' || type === 'commonjs') return type;
  return /^\s*(?:import|export)\b/m.test(source) ? 'module' : 'commonjs';
}

/** Node's own error starts its stack with the position, but may omit the file. */
function withPlace(cause: unknown, url: string): Error {
  const error = new AppError('bad-input', `${fileOf(url)} is not valid TypeScript: ${messageOf(cause)}`, { cause });
  const stack = cause instanceof Error ? (cause.stack ?? '') : '';
  if (stack !== '') error.stack = stack.startsWith(':') ? fileOf(url) + stack : stack;
  return error;
}

/** Some builds of Node, such as those inside other programs, have no TypeScript support. */
function withoutTypes(url: string, cause: unknown): Error {
  const message =
    `${process.execPath} (Node ${process.versions.node}) cannot run ${fileOf(url)}. This build of Node.js has no TypeScript support: ` +
    'install Node 22.18 or newer from nodejs.org, or write the flow in JavaScript.';
  return new AppError('missing', message, { cause });
}

function textOf(source: nodeModule.ModuleSource): string {
  return typeof source === 'string' ? source : new TextDecoder().decode(source);
}

function fileOf(url: string): string {
  return url.startsWith('file:') ? fileURLToPath(url.replace(/\?.*$/, '')) : url;
}
