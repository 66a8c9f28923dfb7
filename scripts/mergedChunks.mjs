// esbuild makes a chunk for each set of entry points that share code. With a hundred entry points these are hundreds of small files, each
// of which takes a program time to read and adds 150 bytes to an archive. Where an entry point imports a little more than it needs, two
// sets become equal, and two chunks become one.
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';

/** Chunks of less than this are merged, where all programs together load at most so many bytes more. */
const SMALL_BYTES = 4_000;
const MAX_EXTRA_BYTES = 6_000;
// A module of Node.js can take longer to load than a chunk.
const BUILTIN_BYTES = 20_000;

/**
 * @typedef {import('esbuild').Metafile['outputs']} Outputs
 * @typedef {object} Loaded a chunk or a module of Node.js
 * @property {number} bytes
 * @property {Set<string>} needs the paths of all that it imports, with its own
 * @property {Set<string>} programs the paths of the outputs of entry points that load it
 *
 * @typedef {Loaded & { readonly module: string }} Group chunks that the same programs load, which the next build makes one of. `module` is the
 * first module in them: the names of chunks would give another order wherever packages lie elsewhere.
 */

/**
 * A plugin that merges small chunks.
 *
 * @param {Outputs} outputs of the same build without this plugin
 * @returns {import('esbuild').Plugin}
 */
export function mergedChunks(outputs) {
  const imports = importsThatMerge(outputs);
  return {
    name: 'merged-chunks',
    setup(build) {
      build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        const modules = imports.get(path);
        if (modules === undefined) return undefined;
        const lines = modules.map((module) => `import ${JSON.stringify(module)};\n`);
        return { loader: 'ts', contents: `${await readFile(path, 'utf8')}\n${lines.join('')}` };
      });
    },
  };
}

/**
 * @param {Outputs} outputs
 * @returns {ReadonlyMap<string, readonly string[]>} the modules that an entry point has to import in addition, by its path
 */
function importsThatMerge(outputs) {
  const loaded = readLoaded(outputs);
  const before = new Map(Array.from(loaded, ([path, { programs }]) => [path, new Set(programs)]));
  for (let merged = true; merged; ) {
    merged = false;
    const groups = groupsOf(outputs, loaded);
    for (const group of groups.filter(({ bytes }) => bytes < SMALL_BYTES)) {
      const other = cheapest(group, groups, loaded);
      if (other === undefined) continue;
      for (const path of group.needs.union(other.needs))
        for (const program of group.programs.union(other.programs)) loaded.get(path)?.programs.add(program);
      merged = true;
      break;
    }
  }
  /** @type {Map<string, string[]>} */
  const imports = new Map();
  for (const [path, { programs }] of loaded) {
    const modules = Object.keys(outputs[path]?.inputs ?? {})
      .filter(isOwn)
      .map((input) => resolve(input));
    for (const program of programs.difference(before.get(path) ?? new Set())) {
      const entryPoint = resolve(outputs[program]?.entryPoint ?? '');
      imports.set(entryPoint, [...(imports.get(entryPoint) ?? []), ...modules].toSorted());
    }
  }
  return imports;
}

/** @param {string} input */
function isOwn(input) {
  return input.startsWith('src/');
}

/**
 * @param {Outputs} outputs
 * @returns {Map<string, Loaded>}
 */
function readLoaded(outputs) {
  /** @type {Map<string, Loaded>} */
  const loaded = new Map();
  /** @type {(path: string) => Loaded} */
  const load = (path) => {
    const known = loaded.get(path);
    if (known !== undefined) return known;
    const output = outputs[path];
    /** @type {Loaded} */
    const added = { bytes: output?.bytes ?? BUILTIN_BYTES, needs: new Set([path]), programs: new Set() };
    loaded.set(path, added);
    for (const { path: imported, kind } of output?.imports ?? [])
      if (kind === 'import-statement') for (const need of load(imported).needs) added.needs.add(need);
    return added;
  };
  for (const [path, { entryPoint }] of Object.entries(outputs)) {
    if (entryPoint === undefined) continue;
    for (const need of load(path).needs) load(need).programs.add(path);
  }
  return loaded;
}

/**
 * @param {Outputs} outputs
 * @param {ReadonlyMap<string, Loaded>} loaded
 * @returns {readonly Group[]} from the smallest on
 */
function groupsOf(outputs, loaded) {
  /** @type {Map<string, Group>} */
  const groups = new Map();
  for (const [path, { bytes, needs, programs }] of loaded) {
    const output = outputs[path];
    if (output === undefined || output.entryPoint !== undefined) continue;
    // Others cannot be imported by an entry point: packages declare that such an import does nothing, and plugins replace modules.
    if (!Object.keys(output.inputs).every(isOwn)) continue;
    const key = [...programs].toSorted().join(' ');
    const group = groups.get(key) ?? { bytes: 0, needs: new Set(), programs, module: '' };
    const [module = ''] = [group.module, ...Object.keys(output.inputs)].filter(Boolean).toSorted();
    groups.set(key, { bytes: group.bytes + bytes, needs: group.needs.union(needs), programs, module });
  }
  return [...groups.values()].toSorted((a, b) => a.bytes - b.bytes || (a.module < b.module ? -1 : 1));
}

/**
 * The group with which this one is merged at the least cost; undefined if each costs too much.
 *
 * @param {Group} group
 * @param {readonly Group[]} groups
 * @param {ReadonlyMap<string, Loaded>} loaded
 */
function cheapest(group, groups, loaded) {
  let least = MAX_EXTRA_BYTES;
  let best;
  /** @type {(from: Group, to: Group) => number} */
  const extraBytes = (from, to) => {
    let extra = 0;
    for (const path of from.needs) {
      const { bytes = 0, programs = new Set() } = loaded.get(path) ?? {};
      extra += bytes * to.programs.difference(programs).size;
      if (extra > least) break;
    }
    return extra;
  };
  for (const other of groups) {
    if (other === group) continue;
    const extra = extraBytes(group, other) + extraBytes(other, group);
    if (extra >= least) continue;
    least = extra;
    best = other;
  }
  return best;
}
