import { cp, glob, mkdir, rm, symlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import * as esbuild from 'esbuild';
import { lowestNode } from '../requirements.mjs';

const ROOT = resolve(import.meta.dirname, '../..');
const TREE = join(ROOT, 'out', 'unit');
// AssemblyScript, compiled by its own compiler.
const KERNELS = 'src/retrieval/kernel/assembly/**/*.ts';
const SOURCES = ['src/**/*.ts', 'test/**/*.ts', 'scripts/**/*.ts', 'bench/**/*.ts'];
const COPIED = ['{src,test,scripts,bench}/**/*.{json,css,cjs,mjs}', 'test/fixtures/**/*.{sql,pem}', KERNELS];
const PACKAGES = ['**/node_modules/**'];

const LINKED = ['dist', 'docs', 'examples', 'media', 'node_modules', 'package.json', 'package-lock.json'];
/** They check the checkout itself, or compile its sources with their types, which the tree does not have. */
const EXCLUDED =
  /\/(architecture|docLinks|retiredWords|packedFiles|lockfile|manifest|lowestNode|noTelemetry|printedText|securityDocs|types|assist|editProperty)\.test\.ts$/;

/**
 * Compiles the sources and the unit tests as the build compiles the shipped code, since the oldest Node.js cannot parse all
 * of their syntax. File names stay as they are, so that every path and import still holds.
 *
 * @returns the folder, and the paths of its test files.
 */
export async function compileUnitTests(): Promise<{ folder: string; files: string[] }> {
  await rm(TREE, { recursive: true, force: true });
  await esbuild.build({
    absWorkingDir: ROOT,
    entryPoints: await Array.fromAsync(glob(SOURCES, { cwd: ROOT, exclude: [...PACKAGES, KERNELS] })),
    outdir: TREE,
    outbase: ROOT,
    outExtension: { '.js': '.ts' },
    platform: 'node',
    format: 'esm',
    target: `node${lowestNode()}`,
    logLevel: 'warning',
  });
  for await (const path of glob(COPIED, { cwd: ROOT, exclude: PACKAGES })) {
    await mkdir(dirname(join(TREE, path)), { recursive: true });
    await cp(join(ROOT, path), join(TREE, path));
  }
  for (const name of LINKED) await symlink(join(ROOT, name), join(TREE, name));
  const files = await Array.fromAsync(glob('test/unit/**/*.test.ts', { cwd: TREE }), (path) => join(TREE, path));
  return { folder: TREE, files: files.filter((path) => !EXCLUDED.test(path)).toSorted() };
}
