import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { programsAreMissing } from '../../../scripts/programs.ts';

const run = promisify(execFile);

export interface SystemUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** Users that this machine has for as long as a test runs, and what sudo lets one of them do. */
export class SystemUsers implements AsyncDisposable {
  readonly #id = randomBytes(3).toString('hex');
  readonly #names: string[] = [];

  /** Why users cannot be made here; undefined where they can. Root on Debian gets what is missing. */
  static async areMissing(): Promise<string | undefined> {
    if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'only root on Linux can make users';
    const programs = ['useradd', 'userdel', 'sudo', 'visudo', 'setfacl'];
    return programsAreMissing('sudo', { programs, packages: ['sudo', 'acl', 'passwd'] });
  }

  /** Makes a user with a name that begins so. */
  async add(prefix: string): Promise<SystemUser> {
    const name = `${prefix}-${this.#id}`;
    await run('useradd', ['--create-home', '--user-group', '--shell', '/bin/bash', name]);
    this.#names.push(name);
    const [uid = '', gid = ''] = await Promise.all(
      ['-u', '-g'].map(async (what) => (await run('id', [what, name])).stdout),
    );
    return { name, uid: Number(uid), gid: Number(gid) };
  }

  /** Writes a file of rules for sudo, which visudo finds valid. */
  async allow(lines: string): Promise<void> {
    await writeFile(this.#rules, `${lines}\n`, { mode: 0o440 });
    await run('visudo', ['--check', '--file', this.#rules]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#rules, { force: true });
    for (const name of this.#names) await run('userdel', ['--force', '--remove', name]).catch(() => {}); // it has no mail to remove
  }

  get #rules(): string {
    return `/etc/sudoers.d/farwharf-test-${this.#id}`;
  }
}
