import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { MarkedLineWriter } from '../../../core/text/markedLines.ts';
import { describeRunEnd } from '../history/describeRun.ts';
import { carrySteps } from '../history/carriedSteps.ts';
import { FlowEnding } from '../start/flowEnding.ts';
import { jobRequest } from '../start/jobRequest.ts';
import { jobRunFolder } from '../start/jobRuns.ts';
import type { RunEvent } from '../protocol/runEvent.ts';
import { type RunFolder, runFolder } from '../history/runFolder.ts';
import type { RunRecord } from '../history/runRecord.ts';
import { RunTotals } from '../history/runSummary.ts';
import { type Outlet, runChild, type RuntimeFiles } from './childMain.ts';

const STOP_GRACE_MS = 1_000;
// Services keep only a part of a long log, which should be the program's own output.
const MAX_LOG_CHARACTERS = 8 * 1024 * 1024;
// A large state would flood the log; the trace among the results contains all of it.
const VIEW_LIMITS = { text: 1_000, items: 50, depth: 8, total: 20_000 };

/**
 * Runs the flow of a job: writes its events as marked lines into the job's output, and trace, recording and checkpoints into
 * the results of the job.
 *
 * @param path the path of a `JobRequest` in a folder of the workspace.
 */
export async function runAsJob(path: string, args: readonly string[], runtime: RuntimeFiles): Promise<void> {
  hideExperiments();
  const request = jobRequest.parse(JSON.parse(readFileSync(path, 'utf8')));
  const workspace = dirname(dirname(path));
  const startedAt = new Date().toISOString();
  const id = startedAt.replaceAll(/[-:.TZ]/g, '');
  const { FARWHARF_ARTIFACTS: results = workspace, FARWHARF_JOB_ID: job } = process.env;
  const folder = runFolder(join(results, jobRunFolder(request.file, job ?? id)));
  mkdirSync(folder.path, { recursive: true });
  const file = join(workspace, request.file);
  const { flow, flowName, shared, resume, steps = [] } = request;
  const resumedFrom = resume && { run: '', path: resume.path, visit: resume.visit };
  const runRequest = { flow, flowName, shared, args: [...args] };
  const record: RunRecord = { version: 1, id, file, startedAt, ...runRequest, job, resumedFrom };
  await carrySteps(steps, folder);
  const report = new JobReport(folder, record);
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.once(signal, () => {
      stop.abort(new DOMException('The job was stopped.', 'AbortError'));
      setTimeout(() => process.exit(1), STOP_GRACE_MS).unref();
    });
  }
  process.on('exit', (code) => report.end(code, stop.signal.aborted));
  const child = {
    file,
    flow: request.flow,
    flowName: request.flowName,
    shared: request.shared,
    resume: request.resume,
    input: request.input,
    args,
    folder: folder.path,
  };
  await runChild(child, { runtime, outlet: report, stop: stop.signal, viewLimits: VIEW_LIMITS, isJob: true });
}

/** Writes events to the log of the job, and the outcome to its results. */
class JobReport implements Outlet {
  readonly #folder: RunFolder;
  readonly #record: RunRecord;
  readonly #ending = new FlowEnding();
  readonly #writer = new MarkedLineWriter((line) => {
    this.#written += line.length;
    process.stdout.write(line);
  });
  #written = 0;
  #isFull = false;
  readonly #totals = new RunTotals();
  /** The number of the first run; only that is summarised. */
  #run: number | undefined;

  constructor(folder: RunFolder, record: RunRecord) {
    this.#folder = folder;
    this.#record = record;
    this.#write(record);
  }

  event(event: RunEvent): void {
    this.#ending.note({ type: 'events', batch: 0, events: [event] });
    this.#run ??= event.run;
    if (event.run === this.#run) this.#totals.push(event);
    this.#log(event);
  }

  #log(event: RunEvent): void {
    if (this.#written < MAX_LOG_CHARACTERS || event.type === 'run-end') {
      this.#writer.write(event);
    } else if (!this.#isFull) {
      this.#isFull = true;
      process.stderr.write('farwharf: Too many steps for the log: further steps are in the trace among the results.\n');
    }
  }

  send(message: Parameters<Outlet['send']>[0]): void {
    this.#ending.note(message);
    if (message.type === 'note') process.stderr.write(`farwharf: ${message.message}\n`);
  }

  get pause(): Promise<void> | undefined {
    if (!process.stdout.writableNeedDrain) return undefined;
    return new Promise((resolve) => process.stdout.once('drain', resolve));
  }

  flush(): void {}

  end(code: number, isStopped: boolean): void {
    const outcome = this.#ending.outcome({ code, signal: null, isStopped });
    const summary = this.#totals.summary(outcome);
    this.#write({ ...this.#record, ...summary });
    if (outcome.type === 'failed' && outcome.error.stack !== undefined)
      process.stderr.write(`${outcome.error.stack}\n`);
    process.stderr.write(`farwharf: ${basename(this.#record.file)}: ${describeRunEnd(summary.outcome)}\n`);
    if (outcome.type !== 'done' && outcome.type !== 'waiting' && code === 0) process.exitCode = 1;
  }

  #write(record: RunRecord): void {
    writeFileSync(this.#folder.record, `${JSON.stringify(record, undefined, 1)}\n`);
  }
}

/** Warnings about Node's own experimental features do not belong in the log of a job. */
function hideExperiments(): void {
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message }) => {
    if (name !== 'ExperimentalWarning' && !message.startsWith('Module type of file')) {
      process.stderr.write(`${name}: ${message}\n`);
    }
  });
}
