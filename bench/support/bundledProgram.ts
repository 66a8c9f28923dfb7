import { basename, join } from 'node:path';
import { buildSync } from 'esbuild';

/** A program of a thread as it is shipped, in one file: one that strips the types of many sources starts later and takes more memory. */
export function bundleProgram(source: string, folder: string): string {
  const outfile = join(folder, basename(source).replace(/\.ts$/, '.mjs'));
  buildSync({
    entryPoints: [source],
    outfile,
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
  });
  return outfile;
}
