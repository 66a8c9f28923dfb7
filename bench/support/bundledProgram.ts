import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { compiledKernels } from '../../scripts/compiledKernels.mjs';

/** A program of a thread as it is shipped, in one file: one that strips the types of many sources starts later and takes more memory. */
export async function bundleProgram(source: string, folder: string): Promise<string> {
  const outfile = join(folder, basename(source).replace(/\.ts$/, '.mjs'));
  await build({
    entryPoints: [source],
    outfile,
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    plugins: [compiledKernels],
    banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
  });
  return outfile;
}
