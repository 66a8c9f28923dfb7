import type * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import type { Redactor } from '../../core/redact.ts';
import { lockFileOf, signInFolder } from '../../jobs/signIn/signInFile.ts';
import { parseSignIn, type SignInRecord } from '../../jobs/signIn/signInRecord.ts';
import { hostsIn } from './keys.ts';
import type { KeySource } from '../../remote/http/bearer.ts';

const PREFIX = 'farwharf.signIn ';

/** Sign-ins with identity providers in the system's secret storage, one per host. A sign-in is only returned for the host that it was made for. */
export class SignIns {
  readonly #secrets: vscode.SecretStorage;
  readonly #redactor: Redactor;
  readonly #home: string;

  /** @param home FARWHARF_HOME, for locks that all windows see. */
  constructor(secrets: vscode.SecretStorage, redactor: Redactor, home: string) {
    this.#secrets = secrets;
    this.#redactor = redactor;
    this.#home = home;
  }

  async get(host: string): Promise<SignInRecord | undefined> {
    const text = await this.#secrets.get(PREFIX + host);
    const record = text === undefined ? undefined : parseSignIn(text, host);
    if (record !== undefined) this.#hide(record);
    return record;
  }

  async set(record: SignInRecord): Promise<void> {
    this.#hide(record);
    await this.#secrets.store(PREFIX + record.host, JSON.stringify(record));
  }

  async delete(host: string): Promise<void> {
    await this.#secrets.delete(PREFIX + host);
  }

  /** The hosts that somebody is signed in to. */
  async hosts(): Promise<string[]> {
    return hostsIn(await this.#secrets.keys(), PREFIX);
  }

  /** The access tokens of a sign-in to this host. The library for renewing them is loaded only for people who have signed in. */
  async tokens(host: string): Promise<KeySource> {
    const { AccessTokens } = await import('../../jobs/signIn/accessTokens.ts');
    const storage = {
      read: () => this.get(host),
      write: (record: SignInRecord) => this.set(record),
      lockFile: () => lockFileOf(host, signInFolder(this.#home), 'editor'),
    };
    return new AccessTokens(host, storage, l10n.t('Sign in again.'));
  }

  /** Calls `listener` with the host to which somebody has signed in or out, here or in another window, or whose tokens were renewed. */
  onDidChange(listener: (host: string) => void): vscode.Disposable {
    return this.#secrets.onDidChange(({ key }) => {
      if (key.startsWith(PREFIX)) listener(key.slice(PREFIX.length));
    });
  }

  #hide({ access_token, refresh_token }: SignInRecord): void {
    this.#redactor.add(access_token);
    if (refresh_token !== undefined) this.#redactor.add(refresh_token);
  }
}
