import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeAtomically } from '../../core/files/atomicFile.ts';
import { ensurePrivateFolder } from '../../core/files/ownFiles.ts';
import { hostFileName, readPrivateFile } from '../service/hostKey.ts';
import type { SignInStorage } from './accessTokens.ts';
import { parseSignIn, type SignInRecord } from './signInRecord.ts';

/** The sign-in of a host in a file of its own in FARWHARF_HOME, with the permissions of a key file. */
export class SignInFile implements SignInStorage {
  readonly #host: string;
  readonly #folder: string;
  readonly #path: string;

  constructor(host: string, home: string) {
    this.#host = host;
    this.#folder = signInFolder(home);
    this.#path = join(this.#folder, hostFileName(host));
  }

  /** Undefined without a sign-in to this very host. @throws AppError `permission` of `readPrivateFile`. */
  readNow(): SignInRecord | undefined {
    const text = readPrivateFile(this.#path);
    return text === undefined ? undefined : parseSignIn(text, this.#host);
  }

  async read(): Promise<SignInRecord | undefined> {
    return this.readNow();
  }

  async write(record: SignInRecord): Promise<void> {
    ensurePrivateFolder(this.#folder);
    await writeAtomically(this.#path, JSON.stringify(record));
  }

  lockFile(): string {
    return lockFileOf(this.#host, this.#folder);
  }

  remove(): void {
    rmSync(this.#path, { force: true });
  }
}

/** The folder in FARWHARF_HOME with the sign-ins of the command line, and the locks under which all sign-ins are renewed. */
export function signInFolder(home: string): string {
  return join(home, 'signIns');
}

/** The file that a process creates while it renews a sign-in to a host. */
export function lockFileOf(host: string, folder: string, kind = 'lock'): string {
  ensurePrivateFolder(folder);
  return join(folder, `${kind} ${hostFileName(host)}`);
}
