// Builds everything in `dist/`. `--watch` rebuilds on change; `--tests` also builds the suite that runs inside VS Code.
import { spawnSync } from 'node:child_process';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import * as http from 'node:http';
import { isBuiltin } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import * as esbuild from 'esbuild';
import { billOfMaterials } from './scripts/billOfMaterials.mjs';
import { bundledPackages } from './scripts/bundledPackages.mjs';
import { compiledKernels } from './scripts/compiledKernels.mjs';
import { writeMachineManifest } from './scripts/machineManifest.mjs';
import { englishTexts, localisedByVSCode, textsOfPage } from './scripts/localisation.mjs';
import { mergedChunks } from './scripts/mergedChunks.mjs';
import { lowestNode } from './scripts/requirements.mjs';
import { thirdPartyLicenses } from './scripts/thirdPartyLicenses.mjs';

const watch = process.argv.includes('--watch');
const tests = process.argv.includes('--tests');

/** @type {esbuild.BuildOptions} */
const common = {
  bundle: true,
  platform: 'node',
  target: `node${lowestNode()}`,
  minify: !watch,
  keepNames: true,
  sourcemap: watch ? 'inline' : false,
  legalComments: 'none', // they are in thirdPartyLicenses.txt
  metafile: true,
  // `ws` would require packages with machine code.
  define: { 'process.env.WS_NO_BUFFER_UTIL': '"1"', 'process.env.WS_NO_UTF_8_VALIDATE': '"1"' },
  logLevel: watch ? 'info' : 'warning',
};

const LIBRARIES = { remote: 'src/library/remote.ts', agents: 'src/agents/index.ts' };

/** @type {esbuild.BuildOptions} */
const extension = {
  ...common,
  outdir: 'dist',
  external: ['vscode'],
  keepNames: false, // nothing here reads the name of a class; names are 3 % of the VSIX, whose size is limited
};

// The entry is one file of its own, which every window loads at its start, and requires all else when it is needed.
/** @type {esbuild.Plugin} */
const lazyFeatures = {
  name: 'lazy-features',
  setup(build) {
    build.onResolve({ filter: /^\.\/features\.ts$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: './features.js', external: true } : undefined,
    );
  },
};

// What is loaded on first use runs only where the features run, so all that they need is there already. Without being told, esbuild makes a
// chunk for each set of these entry points that share code, which are dozens of files to read at the start.
/** @type {esbuild.Plugin} */
const featuresAreLoaded = {
  name: 'features-are-loaded',
  setup(build) {
    /** @type {Set<string>} */
    const entryPoints = new Set();
    build.onResolve({ filter: /^\./ }, async ({ path, kind, resolveDir }) => {
      if (kind !== 'dynamic-import') return undefined;
      const { path: entryPoint } = await build.resolve(path, { kind: 'import-statement', resolveDir });
      entryPoints.add(entryPoint);
      return undefined;
    });
    build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      if (!entryPoints.has(path)) return undefined;
      const text = await readFile(path, 'utf8');
      return { loader: 'ts', contents: `${text}\nimport ${JSON.stringify(resolve('src/extension/features.ts'))};\n` };
    });
  },
};

// Questions to a model are sent by a module that the command line is made of too, instead of by a second copy of it.
/** @type {esbuild.Plugin} */
const sharedChatModel = {
  name: 'shared-chat-model',
  setup(build) {
    build.onResolve({ filter: /\/chatModel\.ts$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: './chatModel.mjs', external: true } : undefined,
    );
  },
};

// VS Code loads the extension as CommonJS, and esbuild splits only ES modules: they are converted when they are split.
/** @type {esbuild.Plugin} */
const asCommonJs = {
  name: 'as-common-js',
  setup(build) {
    build.initialOptions.write = false;
    build.onEnd(async ({ outputFiles = [] }) => {
      for (const { path, text } of outputFiles) {
        const { code } = await esbuild.transform(text, {
          format: 'cjs',
          platform: 'node',
          target: common.target,
          supported: { 'dynamic-import': false },
          minify: common.minify,
          sourcemap: common.sourcemap,
        });
        await mkdir(dirname(path), { recursive: true });
        await writeFile(path, importedModules(withoutCopies(code), relative(dirname(path), 'dist') || '.'));
      }
    });
  },
};

/**
 * esbuild gives each source file a copy of all names of VS Code's API, for a default import, which none of them has.
 *
 * @param {string} code
 */
function withoutCopies(code) {
  return code.replace(/[\w$]+\((require\("vscode"\))\)/g, '$1');
}

/**
 * ES modules are imported, while what is CommonJS is required.
 *
 * @param {string} code
 * @param {string} dist the path of `dist` from the file of this code
 */
function importedModules(code, dist) {
  const imported = code.replace(
    /Promise\.resolve\(\)\.then\(\(\) ?=> ?[\w$]+\(require\("\.\/(\w+\.mjs)"\)\)\)/g,
    (_, name) => `import("${dist}/${name}")`,
  );
  if (/require\("[^"]+\.mjs"\)/.test(imported)) throw new Error('An ES module is required instead of imported.');
  return imported;
}

// CommonJS dependencies call `require` for modules of Node.js. A `require` made with `import.meta.url` would do in these ES
// modules, but not in a bundle that a user of the libraries makes of them as CommonJS: each becomes an import instead.
/** @type {esbuild.Plugin} */
const importedBuiltins = {
  name: 'imported-builtins',
  setup(build) {
    build.onResolve({ filter: /^[\w:/]+$/ }, ({ path, kind }) =>
      kind === 'require-call' && isBuiltin(path)
        ? { path: path.replace(/^(node:)?/, 'node:'), namespace: 'imported-builtin' }
        : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: 'imported-builtin' }, ({ path }) => ({
      contents: `import builtin from '${path}';\nmodule.exports = builtin;\n`,
    }));
    build.onEnd(({ metafile }) => {
      const imports = Object.values(metafile?.outputs ?? {}).flatMap((output) => output.imports);
      const left = imports.filter(({ kind }) => kind.startsWith('require')).map(({ path }) => path);
      return left.length === 0
        ? undefined
        : { errors: [{ text: `require is left in an ES module: ${left.join(', ')}` }] };
    });
  },
};

// An import of node:http reads all of its exports, and those of WebSocket load undici: 7 MB and a fifth of the start of each process.
/** @type {esbuild.Plugin} */
const httpWithoutUndici = {
  name: 'http-without-undici',
  setup(build) {
    const isLazy = /^(WebSocket|CloseEvent|MessageEvent|default)$/;
    const names = Object.keys(http).filter((name) => !isLazy.test(name));
    build.onResolve({ filter: /^(node:)?http$/ }, () => ({ path: 'node:http', namespace: 'http-without-undici' }));
    build.onLoad({ filter: /.*/, namespace: 'http-without-undici' }, () => ({
      contents: `const http = process.getBuiltinModule('node:http');\nexport const { ${names.join(', ')} } = http;\nexport default http;\n`,
    }));
  },
};

// The MCP client and server validate structured results with a JSON Schema compiler, half of their size. Servers check their own
// results, and a schema from a server could take any amount of time to compile, so the bundles accept every result.
/** @type {esbuild.Plugin} */
const noSchemaCompiler = {
  name: 'no-schema-compiler',
  setup(build) {
    build.onResolve({ filter: /\/ajv-provider\.js$/ }, () => ({
      path: 'ajv-provider',
      namespace: 'no-schema-compiler',
    }));
    build.onLoad({ filter: /.*/, namespace: 'no-schema-compiler' }, () => ({
      contents: `export class AjvJsonSchemaValidator { getValidator() { return (data) => ({ valid: true, data }); } }`,
    }));
  },
};

// The client of the `openai` package creates each of its parts, so that nothing can be left out of a bundle: assistants, videos,
// administration and more are three quarters of it. Farwharf uses chat completions and embeddings; the other classes are empty.
/** @type {esbuild.Plugin} */
const openaiChatOnly = {
  name: 'openai-chat-only',
  setup(build) {
    const used = /[\\/](index|shared|embeddings|chat[\\/].*)\.mjs$/;
    build.onLoad({ filter: /[\\/]openai[\\/](resources[\\/].*|lib[\\/]ChatCompletion\w*)\.mjs$/ }, async ({ path }) => {
      if (used.test(path)) return undefined;
      const names = (await readFile(path, 'utf8')).matchAll(/^export class (\w+)/gm);
      return { contents: Array.from(names, ([, name]) => `export class ${name} {}`).join('\n') };
    });
  },
};

// node-fetch brings web streams for versions of Node.js that lack them: 59 KB in each bundle, which no supported version loads.
/** @type {esbuild.Plugin} */
const nativeWebStreams = {
  name: 'native-web-streams',
  setup(build) {
    build.onResolve({ filter: /^web-streams-polyfill\// }, () => ({
      path: 'web-streams',
      namespace: 'native-web-streams',
    }));
    build.onLoad({ filter: /.*/, namespace: 'native-web-streams' }, () => ({
      contents: `module.exports = process.getBuiltinModule('node:stream/web');`,
    }));
  },
};

// The messages of zod in fifty languages are more than half of it, and each job of a flow would be sent with them.
/** @type {esbuild.Plugin} */
const englishOnly = {
  name: 'english-only',
  setup(build) {
    build.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
  },
};

// What a bundle for browsers gets in place of a library: it has the library's names, so that the bundle is made, and says
// at its start why it cannot work.
/** @type {esbuild.Plugin} */
const browserStandIns = {
  name: 'browser-stand-ins',
  setup(build) {
    build.onEnd(async ({ metafile }) => {
      for (const [name, entry] of Object.entries(LIBRARIES)) {
        const output = Object.values(metafile?.outputs ?? {}).find(({ entryPoint }) => entryPoint === entry);
        const message = `farwharf/${name} runs in Node.js only: it needs files and sockets, which browsers do not have. Import it in code that runs on a server or in the extension host, or bundle for Node.js (esbuild: --platform=node).`;
        const names = `export const ${output?.exports.map((exported) => `${exported} = undefined`).join(', ')};`;
        await mkdir('dist/browser', { recursive: true });
        await writeFile(`dist/browser/${name}.mjs`, `${names}\nthrow new Error(${JSON.stringify(message)});\n`);
      }
    });
  },
};

// Command line, threads and libraries together: what two of them need is there once.
/** @type {esbuild.BuildOptions} */
const programs = {
  ...common,
  // Node.js prints the line of an uncaught error, also that of a library, which would be the whole file. Shorter lines weigh more: 160
  // characters add 29 KB to the VSIX.
  lineLimit: 1_000,
  outdir: 'dist',
  outExtension: { '.js': '.mjs' },
  chunkNames: 'chunks/[hash]',
  format: 'esm',
  splitting: true,
  plugins: [
    englishTexts,
    compiledKernels,
    importedBuiltins,
    httpWithoutUndici,
    noSchemaCompiler,
    openaiChatOnly,
    nativeWebStreams,
    browserStandIns,
  ],
  entryPoints: {
    cli: 'src/cli/main.ts',
    askpass: 'src/machines/ssh/askpassClient.ts',
    jobRunner: 'src/service/runner/jobRunner.ts',
    machineService: 'src/service/machine/machineService.ts',
    indexWorker: 'src/retrieval/index/indexWorker.ts',
    modelWorker: 'src/retrieval/semantic/modelWorker.ts',
    flowRunner: 'src/flows/run/child/flowRunner.ts',
    // The extension's background programs and its chat can be modules, which share what they have in common with the command line.
    worker: 'src/extension/threads/worker.ts',
    folderIndexWorker: 'src/extension/threads/folderIndexWorker.ts',
    flowWorker: 'src/extension/threads/flowWorker.ts',
    chatModel: 'src/extension/agents/chatModel.ts',
    ...LIBRARIES,
  },
};

/** @type {esbuild.BuildOptions[]} */
const configurations = [
  {
    ...extension,
    entryPoints: ['src/extension/extension.ts'],
    format: 'esm',
    plugins: [localisedByVSCode, lazyFeatures, asCommonJs],
  },
  {
    ...extension,
    entryPoints: {
      features: 'src/extension/features.ts',
      typesPlugin: 'src/extension/flows/language/typesPlugin.ts',
    },
    chunkNames: 'chunks/[hash]',
    format: 'esm',
    splitting: true,
    plugins: [localisedByVSCode, compiledKernels, nativeWebStreams, sharedChatModel, featuresAreLoaded, asCommonJs],
  },
  programs,
  // Runs in the sandboxes of jobs, which see this file and nothing else of ours.
  {
    ...common,
    outdir: 'dist',
    outExtension: { '.js': '.mjs' },
    format: 'esm',
    entryPoints: { sandboxTunnel: 'src/service/runner/tunnel/sandboxTunnel.ts' },
  },
  // Runs in jobs, in whichever Node.js they use.
  {
    ...common,
    target: 'node18',
    outdir: 'dist',
    outExtension: { '.js': '.cjs' },
    format: 'cjs',
    entryPoints: { nodeDebugger: 'src/service/runner/debug/nodeDebugger.ts' },
  },
  // For flows in folders without zod. On its own: together with the others, each would load all of zod.
  {
    ...common,
    outdir: 'dist',
    outExtension: { '.js': '.mjs' },
    format: 'esm',
    keepNames: false, // zod gives its classes their names itself
    entryPoints: { zod: 'zod' },
    plugins: [englishOnly],
  },
  {
    ...common,
    platform: 'browser',
    target: 'chrome128', // the oldest that the supported VS Code shows webviews with
    format: 'iife',
    keepNames: false,
    entryPoints: {
      canvas: 'src/webview/canvas/main.ts',
      jobPage: 'src/webview/jobPage/main.ts',
      sweepPage: 'src/webview/sweepPage/main.ts',
    },
    outdir: 'dist/webview',
    plugins: [textsOfPage],
  },
  {
    ...common,
    platform: 'browser',
    entryPoints: {
      canvas: 'src/webview/canvas/canvas.css',
      jobPage: 'src/webview/jobPage/jobPage.css',
      sweepPage: 'src/webview/sweepPage/sweepPage.css',
    },
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

/**
 * Declarations of the libraries: for each one that ES modules import (.d.mts), which knows no default export, and one that
 * CommonJS requires (.d.ts). Both point into the tree that `tsc` writes.
 */
async function writeDeclarations() {
  const { status } = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.types.json'], {
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error('The declarations could not be written.');
  for (const [name, entry] of Object.entries(LIBRARIES)) {
    const declarations = `export * from './types/${relative('src', entry).replace(/\.ts$/, '.js')}';\n`;
    for (const extension of ['mts', 'ts']) await writeFile(`dist/${name}.d.${extension}`, declarations);
  }
}

/** The declarations that flow files need, for editors: those that `farwharf/agents` reaches, which is an eighth of all. */
async function copyFlowTypes() {
  const needed = new Set([join('agents', 'index.d.ts')]);
  for (const file of needed) {
    const text = await readFile(join('dist/types', file), 'utf8');
    for (const [, path] of text.matchAll(/(?:from|import\() ?'(\.[^']+)\.ts'/g))
      needed.add(join(file, '..', `${path}.d.ts`));
    await cp(join('dist/types', file), join('dist/flowTypes', file));
  }
}

await rm('dist', { recursive: true, force: true });
if (tests) await rm('out/host', { recursive: true, force: true });
await mkdir('dist', { recursive: true });
if (watch) {
  for (const configuration of configurations) await (await esbuild.context(configuration)).watch();
} else {
  const { metafile } = await esbuild.build({ ...programs, write: false });
  programs.plugins?.push(mergedChunks(metafile?.outputs ?? {}));
  const built = await Promise.all(configurations.map((configuration) => esbuild.build(configuration)));
  const metafiles = built.flatMap(({ metafile }) => metafile ?? []);
  const packages = await bundledPackages(metafiles);
  await writeFile('dist/thirdPartyLicenses.txt', await thirdPartyLicenses(packages));
  await writeFile('dist/sbom.json', await billOfMaterials(packages));
  await writeMachineManifest(metafiles);
  await writeDeclarations();
  await copyFlowTypes();
}
