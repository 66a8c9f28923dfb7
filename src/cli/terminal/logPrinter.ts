import { JobFlowEvents } from '../../flows/run/start/jobFlowEvents.ts';
import { LogText } from '../../jobs/log/logText.ts';
import { stateOf } from '../../jobs/log/jobPatch.ts';
import type { SpooledEvent } from '../../jobs/log/spool.ts';
import { logEventData } from '../../remote/protocol/schemas.ts';
import { logTextOf, stateOfWord } from '../../remote/protocol/spellings.ts';
import { isFinalState } from '../../remote/protocol/states.ts';
import { StepPrinter } from './stepPrinter.ts';
import type { Terminal } from './terminal.ts';

type StreamName = 'stdout' | 'stderr';

/**
 * Prints events: one JSON line each, or the job's stdout on stdout and everything else, including the steps of a flow, on stderr. If both
 * are the terminal, all text goes through one `LogText`, so that no line starts in the middle of another.
 */
export class LogPrinter {
  readonly #terminal: Terminal;
  readonly #texts: ReadonlyMap<StreamName, LogText>;
  readonly #flow = new JobFlowEvents();
  readonly #steps: StepPrinter;

  constructor(terminal: Terminal, machineClass: string | null) {
    this.#terminal = terminal;
    this.#steps = new StepPrinter(terminal);
    const isOneScreen = terminal.isScreen('stdout') && terminal.isScreen('stderr');
    const names: readonly StreamName[] = isOneScreen ? ['stderr'] : ['stdout', 'stderr'];
    const machine = machineClass === null ? {} : { machine: machineClass };
    const textFor = (name: StreamName): LogText =>
      new LogText({ colour: terminal.hasColour(name), keepsData: !terminal.isScreen(name), ...machine });
    this.#texts = new Map(names.map((name) => [name, textFor(name)]));
  }

  print(event: SpooledEvent): void {
    if (this.#terminal.isJson) {
      const { event: name, data, id } = event;
      this.#terminal.json({ event: name, data, ...(id !== undefined && { id }) });
    } else if (!isEnding(event)) {
      const name = this.#texts.has('stdout') ? streamOf(event) : 'stderr';
      const text = this.#texts.get(name)?.push(event);
      if (text !== undefined) this.#terminal.output(name, text);
      for (const flowEvent of this.#flow.push(event)) this.#steps.print(flowEvent);
    }
  }

  /** Prints buffered text. */
  flush(): void {
    for (const [name, text] of this.#texts) this.#terminal.output(name, text.flush());
  }
}

/** Whether an event reports the end of the job. Callers describe that in one line, with the location of the results. */
function isEnding({ event, data }: SpooledEvent): boolean {
  return event === 'end' || (event === 'state' && isFinalState(stateOfWord(stateOf(data) ?? '') ?? ''));
}

function streamOf({ event, data, own }: SpooledEvent): StreamName {
  const output = logEventData.safeParse(data);
  if (output.success) return output.data.stream;
  // A service may not tell its streams apart.
  return own !== true && logTextOf(event, data) !== undefined ? 'stdout' : 'stderr';
}
