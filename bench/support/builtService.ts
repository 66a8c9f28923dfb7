import { join } from 'node:path';
import * as esbuild from 'esbuild';
import { lowestNode } from '../../scripts/requirements.mjs';

const ROOT = join(import.meta.dirname, '../..');

/** Builds the service and its runners as they are released, since sources take more memory, and returns the path of the program. */
export async function buildService(folder: string): Promise<string> {
  await esbuild.build({
    entryPoints: {
      serviceOnce: join(import.meta.dirname, 'serviceOnce.ts'),
      runnerOnce: join(import.meta.dirname, 'runnerOnce.ts'),
      jobRunner: join(ROOT, 'src/service/runner/jobRunner.ts'),
    },
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    minify: true,
    keepNames: true,
    platform: 'node',
    target: `node${lowestNode()}`,
    format: 'esm',
    splitting: true,
    banner: {
      js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
    },
  });
  return join(folder, 'serviceOnce.mjs');
}
