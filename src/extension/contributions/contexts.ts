import * as vscode from 'vscode';
import type { Contexts } from './names.ts';

/** Sets the context keys `farwharf.*`, each only when its value changes. */
export class ContextKeys {
  readonly #known = new Map<keyof Contexts, unknown>();

  set<K extends keyof Contexts>(name: K, value: Contexts[K]): void {
    if (this.#known.get(name) === value) return;
    this.#known.set(name, value);
    void vscode.commands.executeCommand('setContext', `farwharf.${name}`, value);
  }
}
