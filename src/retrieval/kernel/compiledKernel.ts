// Compiles kernels on first use when running from sources. The build replaces this file by one with the compiled bytes, so the installed
// package does not need the compiler.
import { spawnSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export type KernelName = 'tokenizer' | 'vectors';

const SOURCES = join(import.meta.dirname, 'assembly');
const CACHE = join(import.meta.dirname, '../../../node_modules/.cache/farwharf-kernels');
const COMPILER = fileURLToPath(import.meta.resolve('assemblyscript/bin/asc.js'));
const COMPILER_VERSION = fileURLToPath(import.meta.resolve('assemblyscript/package.json'));
// 201: mixing a size and a number, which both have 32 bits here.
const OPTIONS =
  '-O3 --noAssert --runtime stub --enable simd --importMemory --noExportMemory --disableWarning 201'.split(' ');

/**
 * The WebAssembly module of a kernel. The first call after a change to the sources compiles it, which takes a few seconds.
 *
 * @throws Error with the compiler's output if the sources have errors.
 */
export function kernelBytes(name: KernelName): Uint8Array<ArrayBuffer> {
  const file = join(CACHE, `${name}-${sourceHash()}.wasm`);
  if (!existsSync(file)) {
    mkdirSync(CACHE, { recursive: true });
    // Test files run in parallel, and each may be the first.
    const partial = `${file}.${randomUUID()}`;
    compileKernel(name, partial);
    renameSync(partial, file);
  }
  return new Uint8Array(readFileSync(file));
}

/**
 * Compiles a kernel to a file: the same bytes each time.
 *
 * @throws Error with the compiler's output if the sources have errors.
 */
export function compileKernel(name: KernelName, file: string): void {
  // Without this option, the compiler starts a second process for source maps.
  const args = ['--enable-source-maps', COMPILER, join(SOURCES, `${name}.ts`), ...OPTIONS, '--outFile', file];
  const { status, stderr, error } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`The kernel ${name} could not be compiled.\n${stderr}`, { cause: error });
}

function sourceHash(): string {
  const hash = createHash('sha256').update(OPTIONS.join(' '));
  const sources = readdirSync(SOURCES, { encoding: 'utf8', recursive: true }).filter((source) =>
    source.endsWith('.ts'),
  );
  for (const path of [COMPILER_VERSION, ...sources.sort().map((source) => join(SOURCES, source))]) {
    hash.update(readFileSync(path));
  }
  return hash.digest('hex').slice(0, 16);
}
