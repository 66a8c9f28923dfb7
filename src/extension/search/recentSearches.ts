import type * as vscode from 'vscode';

const KEY = 'recent searches';
const MAX = 10;

/** Queries in this window's folders whose results were opened, the newest first. */
export class RecentSearches {
  readonly #memory: vscode.Memento;

  constructor(memory: vscode.Memento) {
    this.#memory = memory;
  }

  get all(): readonly string[] {
    return this.#memory.get<readonly string[]>(KEY) ?? [];
  }

  async add(query: string): Promise<void> {
    const text = query.trim();
    if (text === '') return;
    await this.#memory.update(KEY, [text, ...this.all.filter((other) => other !== text)].slice(0, MAX));
  }
}
