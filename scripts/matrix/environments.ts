import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { messageOf } from '../../src/core/errors.ts';
import { Unavailable } from '../vscode/unavailable.ts';

/** Circumstances in which Farwharf works, or in which it says what is wrong. */
export interface Environment {
  readonly name: string;
  /** File of the kit with the tests. */
  readonly tests: string;
  /** Name of the folder in which everything lies. */
  readonly folder?: string;
  /** Whether the user has an empty home folder instead of a FARWHARF_HOME. */
  readonly isNewUser?: boolean;
  /** Makes what it needs in the row's folder. `path` is PATH as it is elsewhere. @throws Unavailable where this machine does not allow it. */
  enter(folder: string, path: string): Entered;
}

/** How a program is started in an environment. */
interface Entered {
  /** A command that runs the program whose name and arguments follow. */
  readonly prefix?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The Node.js to run; by default the one that runs this. */
  readonly node?: string;
}

const NEW_USER = '54321';
const WORKS = 'package.test.mjs';
const IS_ROOT = process.getuid?.() === 0;
const FULL_DISK = '160m'; // more than the service keeps free for running jobs
// Decomposed letters (NFD), which no other program here writes but macOS and copies from it.
const UNICODE_FOLDER = `Öl & Meer – ışık İstanbul 🚢 ${'café'.normalize('NFD')}`;

export const ENVIRONMENTS: readonly Environment[] = [
  { name: 'a path with spaces and Unicode', tests: WORKS, folder: UNICODE_FOLDER, enter: () => ({}) },
  { name: 'a new user with an empty home folder', tests: WORKS, isNewUser: true, enter: enterAsNewUser },
  {
    name: 'no git',
    tests: WORKS,
    enter: (folder, path) => ({ prefix: inNamespaces('-m', hide('git', folder, path)) }),
  },
  {
    name: 'no network but loopback',
    tests: WORKS,
    enter: () => ({ prefix: inNamespaces('-n', 'ip link set lo up') }),
  },
  { name: 'umask 077', tests: WORKS, enter: () => ({ prefix: ['sh', '-c', 'umask 077 && exec "$@"', 'sh'] }) },
  {
    name: 'Turkish locale',
    tests: WORKS,
    enter: () => ({ env: { LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8', LANGUAGE: 'tr' } }),
  },
  {
    name: 'a read-only home folder, with FARWHARF_HOME elsewhere',
    tests: WORKS,
    enter: (folder) => {
      const home = emptyFolder(folder, 'read only');
      return { prefix: inNamespaces('-m', `mount -t tmpfs -o ro tmpfs '${home}'`), env: { HOME: home } };
    },
  },
  {
    name: 'a TMPDIR of 64 MB',
    tests: WORKS,
    enter: (folder) => {
      const small = emptyFolder(folder, 'small');
      return { prefix: inNamespaces('-m', `mount -t tmpfs -o size=64m tmpfs '${small}'`), env: { TMPDIR: small } };
    },
  },
  {
    name: 'FARWHARF_HOME on a full disk, or read-only',
    tests: 'refusals.test.mjs',
    enter: (folder) => {
      const [full, readOnly] = [emptyFolder(folder, 'full'), emptyFolder(folder, 'read only')];
      const mounts = `mount -t tmpfs -o size=${FULL_DISK} tmpfs '${full}' && mount -t tmpfs -o ro tmpfs '${readOnly}'`;
      return {
        prefix: inNamespaces('-m', mounts),
        env: { FARWHARF_MATRIX_FULL: full, FARWHARF_MATRIX_READ_ONLY: readOnly },
      };
    },
  },
];

/** A machine on which no Node.js is installed, but in the executable that is tested. */
export const WITHOUT_NODE: Environment = {
  name: 'no Node.js',
  tests: WORKS,
  enter: (folder, path) => {
    const runner = join(emptyFolder(folder, 'runner'), 'test-runner'); // of the tests, outside of PATH
    copyFileSync(process.execPath, runner);
    return { prefix: inNamespaces('-m', hide('node', folder, path)), node: runner, env: { PATH: path } };
  },
};

function emptyFolder(folder: string, name: string): string {
  const path = join(folder, name);
  mkdirSync(path);
  return path;
}

/** A prefix that runs a shell command in namespaces of its own first; what it mounts ends with the last process there. */
function inNamespaces(flag: string, command: string): string[] {
  const flags = IS_ROOT ? [flag] : ['-r', flag];
  const prefix = ['unshare', ...flags, 'sh', '-c', `${command} && exec "$@"`, 'sh'];
  tryOut(prefix);
  return prefix;
}

function enterAsNewUser(folder: string): Entered {
  if (!IS_ROOT) throw new Unavailable('only root can become another user');
  const prefix = ['setpriv', `--reuid=${NEW_USER}`, `--regid=${NEW_USER}`, '--clear-groups'];
  const node = join(folder, 'bin', 'node'); // this process's own may be out of reach of others
  mkdirSync(join(folder, 'bin'));
  copyFileSync(process.execPath, node);
  chmodSync(folder, 0o755);
  execFileSync('chown', ['-R', `${NEW_USER}:${NEW_USER}`, folder]);
  tryOut([...prefix, node, '--version']);
  return {
    prefix,
    node,
    env: { PATH: [join(folder, 'bin'), '/usr/bin', '/bin'].join(delimiter), HOME: '/nonexistent' },
  };
}

/** @throws Unavailable when the command does not work here. */
function tryOut(prefix: readonly string[]): void {
  const [command = '', ...args] = prefix;
  const { status, stderr, error } = spawnSync(command, [...args, 'true'], { encoding: 'utf8' });
  if (status === 0) return;
  throw new Unavailable(
    `\`${prefix.join(' ')}\` does not work here: ${error === undefined ? stderr : messageOf(error)}`,
  );
}

/** A shell command that hides a program of PATH from the processes of a mount namespace. */
function hide(program: string, folder: string, path: string): string {
  const layers = emptyFolder(folder, 'layers');
  const folders = path.split(delimiter).filter((each) => existsSync(join(each, program)));
  const hidden = [...new Set(folders.map((each) => realpathSync(each)))].map((each, at) => {
    const [upper, work] = [join(layers, `upper${at}`), join(layers, `work${at}`)];
    const options = `lowerdir=${each},upperdir=${upper},workdir=${work}`;
    return `mkdir '${upper}' '${work}' && mount -t overlay -o '${options}' overlay '${each}' && rm '${join(each, program)}'`;
  });
  return [`mount -t tmpfs tmpfs '${layers}'`, ...hidden, `! command -v ${program}`].join(' && ');
}
