// Starts the program of a single executable, which is a Node.js that contains the command line, and once more itself, compressed. Jobs, flows and
// threads are started with the path of a Node.js and that of a program, so both are unpacked, and used as those of an installed package.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { getRawAsset } from 'node:sea';
import { pathToFileURL } from 'node:url';
import vm from 'node:vm';
import { zstdDecompressSync } from 'node:zlib';
import { AppError, messageOf } from '../core/errors.ts';
import { isDiskFull } from '../core/files/diskSpace.ts';
import { farwharfHome } from '../core/files/home.ts';
import { printableLine } from '../core/text/printable.ts';
import { ensurePrivateFolder, requireOwnFile } from '../core/files/ownFiles.ts';

/** What a single executable contains. */
export interface Contents {
  /** Names the folder of the program: a digest of all assets, so that each version has its own. */
  readonly digest: string;
  /** Path of the command line in that folder. */
  readonly entry: string;
  /** Paths in that folder, each the name of an asset. */
  readonly files: readonly string[];
}

/** Set by esbuild when the executable is made. */
declare const CONTENTS: Contents;

/** Unpacking takes seconds. */
const LEFTOVER_MS = 3_600_000;
const NODE = process.platform === 'win32' ? 'node.exe' : 'node';

try {
  const { node, entry } = unpackedProgram(process.env);
  process.execPath = node;
  process.argv[1] = entry;
  // In the module of a single executable, `import` finds the modules of Node.js only; in a script, it finds files. Node.js warns that this is new.
  process.removeAllListeners('warning');
  const options = { importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER };
  await new vm.Script(`import(${JSON.stringify(pathToFileURL(entry).href)})`, options).runInThisContext();
} catch (error) {
  process.stderr.write(`farwharf: ${printableLine(messageOf(error))}\n`);
  process.exitCode = 1;
}

/**
 * Finds the program of this executable, and unpacks it at its first start. The folder gets its name when it is complete, so that it does
 * not matter if the process is killed meanwhile, or two start at once.
 *
 * @returns the paths of its Node.js and of the command line.
 * @throws AppError `refused` if others can change the program, `no-space` or `permission` if it cannot be unpacked.
 */
function unpackedProgram(env: NodeJS.ProcessEnv): { readonly node: string; readonly entry: string } {
  const home = farwharfHome(env);
  const folder = join(home, 'programs', CONTENTS.digest);
  if (!existsSync(folder)) unpack(home, folder);
  const [node, entry] = [join(folder, NODE), join(folder, CONTENTS.entry)];
  for (const path of [node, entry]) requireOwnFile(path);
  return { node, entry };
}

function unpack(home: string, folder: string): void {
  let partial: string | undefined;
  try {
    ensurePrivateFolder(home);
    ensurePrivateFolder(dirname(folder));
    removeLeftovers(dirname(folder));
    partial = mkdtempSync(`${folder}.partial-`);
    for (const path of CONTENTS.files) {
      mkdirSync(dirname(join(partial, path)), { recursive: true });
      write(join(partial, path), Buffer.from(getRawAsset(path)));
    }
    write(join(partial, NODE), zstdDecompressSync(Buffer.from(getRawAsset('node.zst'))));
    chmodSync(join(partial, NODE), 0o755);
    renameSync(partial, folder);
  } catch (error) {
    if (partial !== undefined) rmSync(partial, { recursive: true, force: true });
    if (existsSync(folder)) return; // another process was faster
    const message = `Farwharf could not be unpacked in ${dirname(folder)}: ${messageOf(error)}. It needs 160 MB there. Free some space, make the folder writable, or set FARWHARF_HOME to another one.`;
    throw new AppError(isDiskFull(error) ? 'no-space' : 'permission', message, { cause: error });
  }
}

/** Removes what processes left that were killed while they unpacked. */
function removeLeftovers(folder: string): void {
  for (const name of readdirSync(folder).filter((each) => each.includes('.partial-'))) {
    const path = join(folder, name);
    if (Date.now() - statSync(path).mtimeMs > LEFTOVER_MS) rmSync(path, { recursive: true, force: true });
  }
}

/** Flushed, so that a folder that has its name is complete after a power failure too. */
function write(path: string, bytes: Uint8Array): void {
  writeFileSync(path, bytes, { flush: true });
}
