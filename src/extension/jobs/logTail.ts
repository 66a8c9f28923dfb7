const MAX_CHARACTERS = 4_000_000;
const CUT = '› Earlier output is left out here; Show Events has all of it.\n';

/** What to do to a view of the log: show this text alone, or add it at the end. */
export interface LogStep {
  readonly type: 'replace' | 'append';
  readonly text: string;
}

/** The end of a log that may be far too long for a view: collects text, and gives what a view needs to catch up. */
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
    // The view would hold twice the limit: it starts anew with the newest text, cut at the start of a line.
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
