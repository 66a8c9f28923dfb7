// Builds everything in `dist/`. `--watch` rebuilds on change; `--tests` also builds the suite that runs inside VS Code.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { spawnSync } from 'node:child_process';
import * as esbuild from 'esbuild';

const watch = process.argv.includes('--watch');
const tests = process.argv.includes('--tests');

/** @type {esbuild.BuildOptions} */
const common = {
  bundle: true,
  platform: 'node',
  target: 'node22',
  minify: !watch,
  keepNames: true,
  sourcemap: watch ? 'inline' : false,
  legalComments: 'none',
  logLevel: watch ? 'info' : 'warning',
};

// CommonJS dependencies inside an ES module bundle call `require` for Node's own modules.
const requireBanner = {
  js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
};

// By the name of the built file, from src/extension.
const LAZY_EXTENSION_CHUNKS = {
  features: 'features.ts',
  worker: 'worker.ts',
  folderIndexWorker: 'folderIndexWorker.ts',
  chatModel: 'search/chatModel.ts',
  flowWorker: 'flowWorker.ts',
};

// VS Code loads the extension as CommonJS, where esbuild does not split. Each lazy chunk is an entry of its own, and
// `import('./features.ts')` in the thin entry becomes a `require` of the built file at the moment it is needed.
/** @type {esbuild.Plugin} */
const lazyChunks = {
  name: 'lazy-chunks',
  setup(build) {
    build.onResolve({ filter: /^\.{1,2}\/(\w+\/)*\w+\.ts$/ }, ({ path, kind }) => {
      const name = path.replace(/^.*\//, '').slice(0, -3);
      return kind === 'dynamic-import' && name in LAZY_EXTENSION_CHUNKS
        ? { path: `./${name}.js`, external: true }
        : undefined;
    });
  },
};

/** @type {esbuild.BuildOptions[]} */
const configurations = [
  {
    ...common,
    entryPoints: Object.entries({ extension: 'extension.ts', ...LAZY_EXTENSION_CHUNKS }).map(([out, file]) => ({
      in: `src/extension/${file}`,
      out,
    })),
    outdir: 'dist',
    format: 'cjs',
    external: ['vscode'],
    supported: { 'dynamic-import': false },
    plugins: [lazyChunks],
  },
  // Command line, threads and libraries together: what two of them need is there once.
  {
    ...common,
    outdir: 'dist',
    outExtension: { '.js': '.mjs' },
    chunkNames: 'chunks/[name]-[hash]',
    format: 'esm',
    splitting: true,
    banner: requireBanner,
    entryPoints: {
      cli: 'src/cli/main.ts',
      jobRunner: 'src/service/runner/jobRunner.ts',
      indexWorker: 'src/retrieval/building/indexWorker.ts',
      modelWorker: 'src/retrieval/vectors/modelWorker.ts',
      flowRunner: 'src/flows/run/flowRunner.ts',
      remote: 'src/remote/index.ts',
      agents: 'src/agents/index.ts',
      zod: 'zod',
    },
  },
  {
    ...common,
    platform: 'browser',
    target: 'chrome128', // the oldest that the supported VS Code shows webviews with
    format: 'iife',
    keepNames: false,
    entryPoints: { canvas: 'src/webview/canvas/main.ts' },
    outdir: 'dist/webview',
  },
  {
    ...common,
    platform: 'browser',
    entryPoints: { canvas: 'src/webview/canvas/canvas.css' },
    outdir: 'dist/webview',
  },
];
if (tests) {
  configurations.push({
    ...common,
    minify: false,
    sourcemap: 'inline',
    entryPoints: ['./test/host/suite/**/*.ts'],
    outbase: 'test/host/suite',
    outdir: 'out/host',
    format: 'cjs',
    external: ['vscode', 'mocha'],
  });
}

/** Declarations of the two libraries: one file for each, which points into the tree that `tsc` writes. */
async function writeDeclarations() {
  const { status } = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.types.json'], {
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error('The declarations could not be written.');
  for (const name of ['remote', 'agents']) {
    await writeFile(`dist/${name}.d.ts`, `export * from './types/${name}/index.js';\n`);
  }
}

await rm('dist', { recursive: true, force: true });
if (tests) await rm('out/host', { recursive: true, force: true });
await mkdir('dist', { recursive: true });
if (watch) {
  for (const configuration of configurations) await (await esbuild.context(configuration)).watch();
} else {
  await Promise.all(configurations.map((configuration) => esbuild.build(configuration)));
  await writeDeclarations();
}
