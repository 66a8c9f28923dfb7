import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { FILE_LIST, trackedFiles } from '../trackedFiles.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const CHECKSUMS = 'SHA256SUMS';

/**
 * Builds a release of the last commit in a clone of its own, and writes it to `folder`.
 *
 * @param env the environment of the build; times, time zone, language and permissions of files are the same in all.
 * @returns the checksums, in the format of `sha256sum`.
 * @throws Error when a change is not committed, or the build fails.
 */
export async function buildRelease(folder: string, env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const changes = execFileSync('git', ['status', '--porcelain', '--untracked-files=no'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  if (changes !== '') throw new Error(`A release is built from a commit. These files have changes:\n${changes}`);
  const scratch = mkdtempSync(join(env['TMPDIR'] ?? tmpdir(), 'farwharf-release-'));
  try {
    const clone = join(scratch, 'farwharf');
    const paths = packClone(clone, env);
    mkdirSync(folder, { recursive: true });
    for (const path of paths) copyFileSync(join(clone, path), join(folder, basename(path)));
    const checksums = paths.map((path) => checksumLine(folder, basename(path))).join('');
    writeFileSync(join(folder, CHECKSUMS), checksums);
    return checksums;
  } finally {
    rmSync(scratch, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
}

/** Builds and packs in a new clone; returns the paths of what is published. */
function packClone(clone: string, env: NodeJS.ProcessEnv): readonly string[] {
  const time = execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: ROOT, encoding: 'utf8' }).trim();
  const own = { ...env, SOURCE_DATE_EPOCH: time, TZ: 'UTC', LC_ALL: 'C' };
  // Archives contain the permissions of their files, which the umask decides when git writes them.
  const run = (cwd: string, ...command: readonly string[]): void => {
    execFileSync('sh', ['-c', 'umask 022 && exec "$@"', 'sh', ...command], { cwd, env: own, stdio: ['ignore', 2, 2] });
  };
  run(ROOT, 'git', 'clone', '--quiet', ROOT, clone);
  run(clone, 'npm', 'ci', '--no-audit', '--no-fund', '--loglevel=error');
  run(clone, 'npm', 'run', 'package');
  run(clone, 'npm', 'pack', '--ignore-scripts', '--loglevel=error');
  run(clone, 'npm', 'run', 'executables', '--', '--to', 'out/executables');
  const { version } = JSON.parse(readFileSync(join(clone, 'package.json'), 'utf8')) as { version: string };
  const executables = readdirSync(join(clone, 'out', 'executables')).toSorted();
  return [
    `farwharf-${version}.vsix`,
    `farwharf-${version}.tgz`,
    packSources(clone, version),
    'dist/sbom.json',
    ...executables.map((name) => `out/executables/${name}`),
  ];
}

/** Writes an archive of the sources, with the list of its files: without git, nothing else separates them from what lies in the folder besides. */
function packSources(clone: string, version: string): string {
  const archive = `farwharf-${version}-source.tar.gz`;
  const prefix = `farwharf-${version}/`;
  const list = trackedFiles(undefined, clone)
    .map((path) => `${path}\n`)
    .join('');
  const args = ['archive', '--format=tar.gz', `--prefix=${prefix}`, `--output=${archive}`];
  writeFileSync(join(clone, 'out', FILE_LIST), list);
  execFileSync('git', [...args, `--add-file=out/${FILE_LIST}`, 'HEAD'], { cwd: clone });
  return archive;
}

function checksumLine(folder: string, name: string): string {
  const hash = createHash('sha256')
    .update(readFileSync(join(folder, name)))
    .digest('hex');
  return `${hash}  ${name}\n`;
}
