// What xterm.js, the terminal of VS Code, takes for the start of an operating system command (OSC): ESC and `]`, also with control
// characters between them, or the C1 control. Either counts anywhere, also inside another sequence.
const ESC = '\x1b';
const COMMAND = '\x9d';
const STARTS = /[\x1b\x9d]/;
// ESC ends a command too, and starts the next sequence.
const ENDS = /[\x07\x18\x1a\x1b\x80-\x9f]/;
const ABORTS = /[\x18\x1a]/;
const IN_ESCAPE = /[\0-\x17\x19\x1c-\x1f\x7f]/;
const CONTROLS = /[\0-\x1f\x7f-\x9f]/g;
const MAX_COMMAND = 8 * 1024;

// The title; colours, and their default ones; a link to a web page (`8;;` ends it); how far a program is.
const HARMLESS = /^(?:[012];|(?:4|1[0-9]|104|11[0-9])(?:;|$)|8;[^;]*;(?:https?:\/\/.*)?$|9;4;)/i;

/**
 * What a program on another machine prints, for a terminal of VS Code. All of it is passed on but operating system commands that VS Code
 * acts on for anyone who prints them: it answers OSC 52 with the user's clipboard, or changes it, takes the commands of its shell integration
 * (7, 9, 133, 633, 1337) for those of a local shell, and opens links with any scheme. Commands of over 8 KB are not passed on either.
 */
export class TerminalGuard {
  #state: 'text' | 'escape' | 'command' = 'text';
  /** What has arrived of a command, without its start. */
  #command = '';
  #isTooLong = false;

  /** @returns what may be shown of it now. */
  push(printed: string): string {
    let shown = '';
    let rest = printed;
    while (rest !== '') {
      if (this.#state === 'text') {
        const start = rest.search(STARTS);
        if (start === -1) return shown + rest;
        shown += rest.slice(0, start);
        this.#start(rest.charAt(start));
        rest = rest.slice(start + 1);
      } else if (this.#state === 'escape') {
        shown += this.#pushInEscape(rest.charAt(0));
        rest = rest.slice(1);
      } else {
        const end = rest.search(ENDS);
        this.#hold(end === -1 ? rest : rest.slice(0, end));
        if (end === -1) return shown;
        shown += this.#endCommand(rest.charAt(end));
        rest = rest.slice(end + 1);
      }
    }
    return shown;
  }

  #start(character: string): void {
    this.#state = character === ESC ? 'escape' : 'command';
    this.#command = '';
    this.#isTooLong = false;
  }

  #pushInEscape(character: string): string {
    if (IN_ESCAPE.test(character)) return character; // the terminal obeys it at once, and stays in the sequence
    if (character === ']' || STARTS.test(character)) {
      this.#start(character === ']' ? COMMAND : character);
      return '';
    }
    this.#state = 'text';
    return ESC + character;
  }

  #hold(text: string): void {
    this.#isTooLong ||= this.#command.length + text.length > MAX_COMMAND;
    this.#command = this.#isTooLong ? '' : this.#command + text;
  }

  #endCommand(end: string): string {
    const command = this.#command.replaceAll(CONTROLS, '');
    const isPassed = !this.#isTooLong && !ABORTS.test(end) && HARMLESS.test(command);
    this.#state = 'text';
    if (STARTS.test(end)) this.#start(end);
    return isPassed ? `\x1b]${command}\x07` : '';
  }
}
