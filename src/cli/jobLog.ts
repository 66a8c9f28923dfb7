import { watchJob } from '../jobs/follow.ts';
import { LogText } from '../jobs/logText.ts';
import { hasSucceeded, type JobRecord } from '../jobs/record.ts';
import { EventSpool, type SpooledEvent } from '../jobs/spool.ts';
import type { RemoteClient } from '../remote/client.ts';
import { logEventData } from '../remote/schemas.ts';
import type { Context } from './context.ts';
import { EXIT } from './exit.ts';
import type { JobPlace } from './jobPlace.ts';
import type { Terminal } from './terminal.ts';

/** How a followed job ended, or that the person stopped looking while it goes on. */
export type Watched = { readonly type: 'over'; readonly record: JobRecord } | { readonly type: 'detached' };

/**
 * Shows a job's events until it ends. Its output goes to stdout and stderr as the job wrote it, or as JSON lines; with
 * `isQuiet` nothing is shown. Ctrl+C detaches: the job goes on.
 */
export async function showLog(
  place: Pick<JobPlace, 'record' | 'ledger' | 'home'>,
  client: RemoteClient,
  { signal, terminal }: Context,
  { isQuiet = false }: { isQuiet?: boolean } = {},
): Promise<Watched> {
  const { record, ledger, home } = place;
  const log = new LogPrinter(terminal, record.machineClass);
  try {
    const spool = new EventSpool(home, record.id);
    const events = watchJob({ service: client, ledger, spool }, record.id, { signal });
    for (;;) {
      const next = await events.next();
      if (next.done === true) return { type: 'over', record: next.value };
      if (!isQuiet) log.print(next.value);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    return { type: 'detached' };
  } finally {
    log.flush();
  }
}

/** Tells somebody who left how to come back. */
export function tellDetached(terminal: Terminal, jobId: string): void {
  terminal.json({ event: 'detached', data: { job_id: jobId } });
  terminal.note(`You left; job ${jobId} goes on.`);
  terminal.note(`  look again:  farwharf watch ${jobId}`);
  terminal.note(`  stop it:     farwharf cancel ${jobId}`);
}

/** The exit status for a job that ended, or that nobody looks at any more. */
export function exitOfWatched(watched: Watched): number {
  if (watched.type === 'detached') return EXIT.interrupted;
  return hasSucceeded(watched.record) ? EXIT.done : EXIT.failed;
}

/** Prints events: for people the job's stdout on stdout and everything else on stderr, for programs one JSON line each. */
class LogPrinter {
  readonly #terminal: Terminal;
  readonly #texts: Readonly<Record<'stdout' | 'stderr', LogText>>;

  constructor(terminal: Terminal, machineClass: string | null) {
    this.#terminal = terminal;
    const text = (stream: 'stdout' | 'stderr'): LogText =>
      new LogText({ colour: terminal.hasColour(stream), ...(machineClass !== null && { machine: machineClass }) });
    this.#texts = { stdout: text('stdout'), stderr: text('stderr') };
  }

  print(event: SpooledEvent): void {
    if (this.#terminal.isJson) {
      const { event: name, data, id } = event;
      this.#terminal.json({ event: name, data, ...(id !== undefined && { id }) });
    } else if (event.event !== 'end') {
      // How it ended is told by whoever knows where the results are.
      const stream = streamOf(event);
      this.#terminal.output(stream, this.#texts[stream].push(event));
    }
  }

  flush(): void {
    for (const stream of ['stdout', 'stderr'] as const) this.#terminal.output(stream, this.#texts[stream].flush());
  }
}

function streamOf({ event, data, own }: SpooledEvent): 'stdout' | 'stderr' {
  const output = logEventData.safeParse(data);
  if (output.success) return output.data.stream;
  return own !== true && (event === 'log' || event === 'message') ? 'stdout' : 'stderr';
}
