import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { git, temporaryFolder, writeTree } from '../temporaryFolder.ts';

/** A repository prepared by an attacker, and the programs that it tries to have run. */
export interface HostileRepository {
  readonly root: string;
  /** A program that leaves a mark when it runs. */
  readonly trap: string;
  /** A file that git would write where one of its keys for logs were believed. */
  readonly log: string;
  /** What ran or was written so far. */
  readonly sprung: () => string[];
}

/**
 * A clone whose `.gitignore` is not on disk, is marked as skipped, and is missing among its objects: git asks the promisor remote
 * for it as soon as it needs the ignore rules, that is with every listing of files.
 */
export function hostileRepository(t: TestContext): HostileRepository {
  const folder = temporaryFolder(t);
  const root = join(folder, 'clone');
  const trap = join(folder, 'trap');
  const [mark, log] = [join(folder, 'mark'), join(folder, 'log')];
  cpSync(preparedClone(), root, { recursive: true });
  appendFileSync(join(root, '.git/config'), `[remote "origin"]\n\turl = ${folder}\n`);
  writeFileSync(trap, `#!/bin/sh\necho "$0 $*" >> '${mark}'\nexit 1\n`);
  chmodSync(trap, 0o755);
  const sprung = (): string[] =>
    [mark, log].filter((path) => existsSync(path)).map((path) => `${path}: ${readFileSync(path, 'utf8')}`);
  return { root, trap, log, sprung };
}

let prepared: string | undefined;

/** The clone as all copies of it begin, without the address of its remote; made once, because that takes eight runs of git. */
function preparedClone(): string {
  if (prepared !== undefined) return prepared;
  const root = mkdtempSync(join(tmpdir(), 'farwharf-clone-'));
  process.on('exit', () => rmSync(root, { recursive: true, force: true }));
  git(root, 'init');
  writeTree(root, { '.gitignore': '*.log\n', 'train.py': 'print(1)\n', 'extra.py': 'print(2)\n' });
  git(root, 'add', '.gitignore', 'train.py');
  git(root, 'commit', '-m', 'first');
  git(root, 'update-index', '--skip-worktree', '.gitignore');
  const blob = git(root, 'rev-parse', 'HEAD:.gitignore').trim();
  rmSync(join(root, '.gitignore'));
  rmSync(join(root, '.git/objects', blob.slice(0, 2), blob.slice(2)));
  git(root, 'config', 'core.repositoryFormatVersion', '1');
  git(root, 'config', 'extensions.partialClone', 'origin');
  git(root, 'config', 'remote.origin.promisor', 'true');
  prepared = root;
  return root;
}

interface Key {
  readonly key: string;
  /** `TRAP` is the program, `LOG` the file, `DIR` a folder of the attacker's beside the repository. */
  readonly value: string;
  /** Where the missing object would be fetched from. */
  readonly url?: string;
}

const SSH = 'ssh://127.0.0.1:9/x';
const HTTP = 'http://127.0.0.1:9/x';

/** Every key of git-config(1), up to git 2.53, that can name a program, or a file that git reads or writes. */
export const PROGRAM_KEYS: readonly Key[] = [
  ...[
    'browser.trap.cmd',
    'browser.trap.path',
    'core.alternateRefsCommand',
    'core.askPass',
    'core.editor',
    'core.fsmonitor',
    'core.hooksPath',
    'core.pager',
    'diff.external',
    'diff.trap.command',
    'diff.trap.textconv',
    'difftool.trap.cmd',
    'difftool.trap.path',
    'filter.trap.clean',
    'filter.trap.process',
    'filter.trap.smudge',
    'gc.recentObjectsHook',
    'gpg.openpgp.program',
    'gpg.program',
    'gpg.ssh.defaultKeyCommand',
    'gpg.ssh.program',
    'gpg.x509.program',
    'guitool.trap.cmd',
    'hook.trap.command',
    'imap.tunnel',
    'instaweb.browser',
    'instaweb.httpd',
    'interactive.diffFilter',
    'man.trap.cmd',
    'man.trap.path',
    'merge.trap.driver',
    'mergetool.trap.cmd',
    'mergetool.trap.path',
    'pager.ls-files',
    'receive.procReceiveRefs',
    'remote.origin.receivepack',
    'sendemail.ccCmd',
    'sendemail.headerCmd',
    'sendemail.sendmailCmd',
    'sendemail.smtpServer',
    'sendemail.toCmd',
    'sequence.editor',
    'tar.trap.command',
    'trailer.trap.cmd',
    'trailer.trap.command',
    'uploadpack.packObjectsHook',
    'web.browser',
  ].map((key) => ({ key, value: 'TRAP' })),
  ...['alias.ls-files', 'alias.check-ignore', 'alias.rev-parse', 'submodule.trap.update'].map((key) => ({
    key,
    value: '!TRAP',
  })),
  { key: 'remote.origin.uploadpack', value: 'TRAP' },
  { key: 'remote.origin.vcs', value: 'trap' },
  { key: 'remote.origin.url', value: 'ext::TRAP' },
  { key: 'protocol.ext.allow', value: 'always', url: 'ext::TRAP' },
  { key: 'url.ext::TRAP .insteadOf', value: HTTP, url: HTTP },
  { key: 'core.sshCommand', value: 'TRAP', url: SSH },
  { key: 'core.gitProxy', value: 'TRAP', url: 'git://127.0.0.1:9/x' },
  { key: 'credential.helper', value: '!TRAP', url: HTTP },
  { key: `credential.${HTTP}.helper`, value: '!TRAP', url: HTTP },
  { key: 'http.proxy', value: HTTP, url: HTTP },
  { key: 'http.cookieFile', value: 'LOG', url: HTTP },
  { key: 'trace2.normalTarget', value: 'LOG' },
  { key: 'trace2.eventTarget', value: 'LOG' },
  { key: 'trace2.perfTarget', value: 'LOG' },
  { key: 'gitcvs.logFile', value: 'LOG' },
  { key: 'format.outputDirectory', value: 'DIR' },
  { key: 'init.templateDir', value: 'DIR' },
  { key: 'core.worktree', value: 'DIR' },
  { key: 'core.attributesFile', value: 'DIR/attributes' },
  { key: 'include.path', value: 'DIR/included' },
  { key: 'includeIf.gitdir:/**.path', value: 'DIR/included' },
];

/** Whether a key does nothing but name a program. */
export function isTrapOnly({ value, url }: Key): boolean {
  return url === undefined && /^!?TRAP$/.test(value);
}

/** Sets a key, with `TRAP` and `LOG` filled in. */
export function setTrap({ root, trap, log }: HostileRepository, { key, value, url }: Key): void {
  const directory = join(root, '../beside');
  mkdirSync(directory, { recursive: true });
  const fill = (text: string): string =>
    text.replaceAll('TRAP', trap).replaceAll('LOG', log).replaceAll('DIR', directory);
  writeFileSync(join(directory, 'included'), `[core]\n\tfsmonitor = ${trap}\n\tpager = ${trap}\n`);
  writeFileSync(join(directory, 'attributes'), '* filter=trap diff=trap\n');
  writeTree(root, { '.gitattributes': '* filter=trap diff=trap merge=trap\n' });
  if (url !== undefined) git(root, 'config', '--replace-all', 'remote.origin.url', fill(url));
  git(root, 'config', fill(key), fill(value));
}
