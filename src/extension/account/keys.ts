import type * as vscode from 'vscode';
import type { Redactor } from '../../core/redact.ts';

/** What a key is for. The key for a job service is never sent to a language model at the same origin, nor the reverse. */
export type KeyKind = 'key' | 'modelKey';

/** The hosts in the names of secrets with this prefix. */
export function hostsIn(names: readonly string[], prefix: string): string[] {
  return names.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
}

/** API keys in the system's secret storage, one per origin. A key is only returned for the origin it was entered for. */
export class Keys {
  readonly #secrets: vscode.SecretStorage;
  readonly #redactor: Redactor;
  readonly #prefix: string;

  constructor(secrets: vscode.SecretStorage, redactor: Redactor, kind: KeyKind) {
    this.#prefix = `farwharf.${kind} `;
    this.#secrets = secrets;
    this.#redactor = redactor;
  }

  async get(host: string): Promise<string | undefined> {
    const key = await this.#secrets.get(this.#prefix + new URL(host).origin);
    if (key !== undefined) this.#redactor.add(key);
    return key;
  }

  async set(host: string, key: string): Promise<void> {
    this.#redactor.add(key);
    await this.#secrets.store(this.#prefix + new URL(host).origin, key);
  }

  async delete(host: string): Promise<void> {
    await this.#secrets.delete(this.#prefix + new URL(host).origin);
  }

  /** The origins that have a key. */
  async origins(): Promise<string[]> {
    return hostsIn(await this.#secrets.keys(), this.#prefix);
  }

  /** Calls `listener` with the origin whose key this or another window stored or deleted. */
  onDidChange(listener: (origin: string) => void): vscode.Disposable {
    return this.#secrets.onDidChange(({ key }) => {
      if (key.startsWith(this.#prefix)) listener(key.slice(this.#prefix.length));
    });
  }
}
