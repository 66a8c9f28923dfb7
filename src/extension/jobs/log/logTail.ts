import * as l10n from '@vscode/l10n';

// About 20,000 lines. The full log is in parts of the same size.
const MAX_CHARACTERS = 1_000_000;
// A channel can only append or be replaced, so all of its text is sent again whenever the moving line changes.
const MAX_MOVING_CHARACTERS = 100_000;
/** The label of the link that opens the full log, at the start of a truncated one. */
export const OPEN_FULL_LOG = l10n.t('Open Full Log');
const BLOCK_CHARACTERS = 16_000;
const CUT = `› ${l10n.t('Earlier output is not shown here: {0}', OPEN_FULL_LOG)}\n`;

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
  /** The newest text, in blocks, at least as much as the limit. */
  readonly #newest: string[] = [];
  #newestLength = 0;
  /** What the view shows below the heading, without the moving line; undefined if it is too long to be sent again. */
  #shown: string | undefined = '';
  #shownLength = 0;
  #moving = '';
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
    this.#keepNewest(text);
    if (this.#shownLength + this.#pendingLength <= 2 * this.#maxCharacters) return;
    // Over twice the limit, the view starts again with the newest text, from the start of a line.
    const newest = this.#newest.join('').slice(-this.#maxCharacters);
    const tail = newest.slice(newest.indexOf('\n') + 1);
    this.#pending = [tail];
    this.#pendingLength = tail.length;
    this.#shown = '';
    this.#shownLength = 0;
    this.#mustReplace = true;
    this.#isCut = true;
  }

  #keepNewest(text: string): void {
    const last = this.#newest.length - 1;
    const block = this.#newest[last] ?? '';
    if (last >= 0 && block.length < BLOCK_CHARACTERS) this.#newest[last] = block + text;
    else this.#newest.push(text);
    this.#newestLength += text.length;
    for (;;) {
      const rest = this.#newestLength - (this.#newest[0]?.length ?? 0);
      if (rest < this.#maxCharacters) return;
      this.#newest.shift();
      this.#newestLength = rest;
    }
  }

  /**
   * Sets the last line, which replaces itself; empty for none.
   *
   * @returns false if the text is too long for a moving line.
   */
  setMoving(line: string): boolean {
    const canMove = this.#shown !== undefined && this.#shownLength + this.#pendingLength <= MAX_MOVING_CHARACTERS;
    const moving = canMove ? line : '';
    this.#mustReplace ||= moving !== this.#moving;
    this.#moving = moving;
    return canMove;
  }

  take(): LogStep {
    const text = this.#pending.join('');
    const isReplaced = this.#mustReplace || (this.#moving !== '' && text !== '');
    const before = this.#shown ?? '';
    const all = before + text;
    const isNeeded = this.#moving !== '' || all.length <= MAX_MOVING_CHARACTERS;
    this.#shown = this.#shown !== undefined && isNeeded ? all : undefined;
    this.#pending = [];
    this.#shownLength += this.#pendingLength;
    this.#pendingLength = 0;
    this.#mustReplace = false;
    if (!isReplaced) return { type: 'append', text };
    const gap = this.#moving === '' || all === '' || all.endsWith('\n') ? '' : '\n';
    return { type: 'replace', text: this.#heading + (this.#isCut ? CUT : '') + all + gap + this.#moving };
  }
}
