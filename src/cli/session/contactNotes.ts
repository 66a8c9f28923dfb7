import type { Terminal } from '../terminal/terminal.ts';

// A service responds within milliseconds, and a busy one within a second or two. After five, people begin to wonder whether anything still
// works.
export const SLOW_MS = 5_000;

/** Says once per outage that a service does not respond, and once that it responds again. */
export class ContactNotes {
  readonly #terminal: Pick<Terminal, 'note'>;
  readonly #service: string;
  readonly #remedy: () => string;
  #isLost = false;

  /**
   * @param service its name as the subject of a sentence.
   * @param remedy what to do if the outage lasts.
   */
  constructor(terminal: Pick<Terminal, 'note'>, service: string, remedy: () => string) {
    this.#terminal = terminal;
    this.#service = service;
    this.#remedy = remedy;
  }

  lost(): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#terminal.note(
      `${this.#service} does not respond. Its jobs keep running. Waiting for it; Ctrl+C stops waiting.`,
    );
    this.#terminal.note(`  ${this.#remedy()}`);
  }

  returned(): void {
    if (!this.#isLost) return;
    this.#isLost = false;
    this.#terminal.note(`${this.#service} responds again.`);
  }
}
