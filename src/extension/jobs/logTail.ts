const MAX_CHARACTERS = 4_000_000;
const CUT = '› Earlier output is not shown here. Show Events has all of it.\n';

/** How to update a view of the log: replace its text, or append to it. */
export interface LogStep {
  readonly type: 'replace' | 'append';
  readonly text: string;
}

/** The end of a log that may be too long for a view. Collects text and returns what the view needs to catch up. */
export class LogTail {
  readonly #heading: string;
  readonly #maxCharacters: number;
  #pending: string[] = [];
  #pendingLength = 0;
  #shownLength = 0;
  #mustReplace = true;
  #isCut = false;

  constructor(heading: string, maxCharacters: number = MAX_CHARACTERS) {
    this.#heading = heading;
    this.#maxCharacters = maxCharacters;
  }

  push(text: string): void {
    if (text === '') return;
    this.#pending.push(text);
    this.#pendingLength += text.length;
    if (this.#shownLength + this.#pendingLength <= 2 * this.#maxCharacters) return;
    // Over twice the limit, the view starts again with the newest text, from the start of a line.
    const all = this.#pending.join('').slice(-this.#maxCharacters);
    const kept = all.slice(all.indexOf('\n') + 1);
    this.#pending = [kept];
    this.#pendingLength = kept.length;
    this.#shownLength = 0;
    this.#mustReplace = true;
    this.#isCut = true;
  }

  take(): LogStep {
    const text = this.#pending.join('');
    const start = this.#mustReplace ? this.#heading + (this.#isCut ? CUT : '') : '';
    const type = this.#mustReplace ? 'replace' : 'append';
    this.#pending = [];
    this.#shownLength += this.#pendingLength;
    this.#pendingLength = 0;
    this.#mustReplace = false;
    return { type, text: start + text };
  }
}
