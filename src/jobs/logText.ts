import type { SpooledEvent } from './spool.ts';

export interface LogTextOptions {
  /** For a terminal: phases are dim, the program's colours and carriage returns stay. Otherwise plain text, progress bars as their last state. */
  readonly colour: boolean;
  /** Shown as `started on <machine>`. */
  readonly machine?: string;
  /** Where the results are or how to get them; shown in the last line. */
  readonly results?: string;
}

/** Turns events into text to append to a terminal or an output channel. One for each reading of a log. */
export class LogText {
  constructor(_options: LogTextOptions) {
    throw new Error('not built yet');
  }

  /** Text for this event; may be empty. Escape sequences other than colours never come through. */
  push(_event: SpooledEvent): string {
    throw new Error('not built yet');
  }

  /** What was held back: the last state of a progress bar. Call it when no event came for a while, and at the end. */
  flush(): string {
    throw new Error('not built yet');
  }
}
