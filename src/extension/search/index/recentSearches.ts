import type * as vscode from 'vscode';
import { type Disposable, Emitter } from '../../../core/processes/lifetime.ts';

const KEY = 'recent searches';
const MAX = 20;

/** Queries in this workspace whose results were opened or asked about, the newest first. VS Code stores them for the workspace. */
export class RecentSearches implements Disposable {
  readonly #memory: vscode.Memento;
  readonly #changed = new Emitter<void>();
  readonly onDidChange = this.#changed.event;

  constructor(memory: vscode.Memento) {
    this.#memory = memory;
  }

  get all(): readonly string[] {
    return this.#memory.get<readonly string[]>(KEY) ?? [];
  }

  async add(query: string): Promise<void> {
    const text = query.trim();
    if (text !== '') await this.#set([text, ...this.all.filter((other) => other !== text)].slice(0, MAX));
  }

  remove(query: string): Promise<void> {
    return this.#set(this.all.filter((other) => other !== query));
  }

  clear(): Promise<void> {
    return this.#set([]);
  }

  dispose(): void {
    this.#changed.dispose();
  }

  async #set(queries: readonly string[]): Promise<void> {
    await this.#memory.update(KEY, queries.length === 0 ? undefined : queries);
    this.#changed.fire();
  }
}
