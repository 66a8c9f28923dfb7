import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../core/errors.ts';
import { formatDuration } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import { SubmittedFiles } from '../../jobs/archives/submittedFiles.ts';
import { JobSources } from '../../jobs/debug/jobSources.ts';
import { serveDebugClient } from '../../jobs/debug/serveDebugClient.ts';
import { serveInspector } from '../../jobs/debug/serveInspector.ts';
import { type JobRecord, isOver } from '../../jobs/ledger/record.ts';
import { patchFromJob } from '../../jobs/log/jobPatch.ts';
import { readFeatures } from '../../jobs/plan/serviceLimits.ts';
import { compareLines } from '../../jobs/source/lineMap.ts';
import { DEBUG_FEATURE, type Frozen } from '../../remote/protocol/debugging.ts';
import type { Job } from '../../remote/protocol/schemas.ts';
import type { JobTunnelClient } from '../../remote/tunnel/jobTunnelClient.ts';
import type { DebuggableProcess } from '../../remote/tunnel/debugChannels.ts';
import type { Context } from '../command/commandContext.ts';
import { Session } from '../command/session.ts';

const LOOPBACK = '127.0.0.1';
const POLL_MS = 1_000;
const MAX_PROCESSES = 10;

interface DebugFlags {
  readonly port: number;
  readonly extend?: number | undefined;
  readonly giveUp: boolean;
  readonly json: boolean;
}

type Debugged = Pick<JobRecord, 'frozen'> & { readonly state: string };

/**
 * `farwharf debug ID`: opens a job's debugger on a port of this machine until the job is over or Ctrl+C. With `--extend` or `--give-up`
 * it only changes how long a frozen job waits.
 */
export async function debugJob(context: Context, name: string, flags: DebugFlags): Promise<number> {
  const { terminal, outputSignal: signal } = context;
  await using session = new Session(context);
  const { jobId, record } = session.resolveJob(name);
  const client = await session.client();
  if (!readFeatures(await client.me({ signal })).includes(DEBUG_FEATURE)) {
    const message = `Jobs of ${session.hostName} cannot be debugged: the service does not offer it. Update the service, or run the job on one that does.`;
    throw new AppError('refused', message);
  }
  if (flags.giveUp || flags.extend !== undefined) {
    const { extend } = flags;
    const job = await session.ask(jobId, (asked) =>
      extend === undefined ? asked.endFreeze(jobId, { signal }) : asked.extendFreeze(jobId, 60 * extend, { signal }),
    );
    if (flags.json) terminal.json(job);
    else
      terminal.note(
        extend === undefined ? 'The job continues.' : `The job waits ${formatDuration(60 * extend)} longer.`,
      );
    return 0;
  }
  const read = async (): Promise<Debugged> => requireDebugged(await session.ask(jobId, (asked) => asked.getJob(jobId)));
  let job = await untilRunning(read, context);
  using tunnel = await session.ask(jobId, (asked) => asked.connectJob(jobId, { signal }));
  const found = await findProcess(tunnel, read, context);
  const { process, language, folder } = found;
  const ended = new AbortController();
  const sources = new JobSources({
    id: record?.id ?? jobId,
    jobFolder: folder,
    localFolder: record?.folder ?? context.cwd,
    submitted: new SubmittedFiles(session.home),
    compare: compareLines,
  });
  const served = {
    port: flags.port,
    sources,
    openDebugger: () => tunnel.debug(process),
    onEvent: (sentence: string) => terminal.note(printableLine(sentence)),
  };
  const until = AbortSignal.any([signal, ended.signal]);
  const { address, ...described } =
    language === 'node'
      ? inspectorAt(await serveInspector(served, until))
      : adapterAt(await serveDebugClient(served, until));
  try {
    ({ job } = found);
    if (flags.json) terminal.json({ ...described, process, frozen: job.frozen });
    else terminal.note(`${address} Ctrl+C detaches.`);
    let shown = '';
    while (!isOver({ state: job.state, finishedAt: null, exitCode: null })) {
      const where = job.frozen === null ? 'The job runs.' : describeFrozen(job.frozen);
      if (where !== shown)
        terminal.note(printableLine(job.frozen === null ? where : `${where} ${timeLeft(job.frozen)}`));
      shown = where;
      await sleep(POLL_MS, undefined, { signal });
      job = await read();
    }
    terminal.note(printableLine(`The job is over (${job.state}).`));
    return 0;
  } finally {
    ended.abort();
  }
}

function adapterAt(port: number) {
  return {
    port,
    protocol: 'dap',
    address: `Attach a debug client (debug adapter protocol) to ${LOOPBACK}:${port}.`,
  };
}

/** Chrome's own page is for addresses without a path; this one opens its debugger for a WebSocket. */
function inspectorAt(url: string) {
  const page = `devtools://devtools/bundled/js_app.html?ws=${url.slice('ws://'.length)}`;
  return {
    url,
    protocol: 'inspector',
    address: `Attach a debug client (inspector protocol) to ${url}, or open ${page} in Chrome.`,
  };
}

/** `Waits at train.py:41: KeyError 'lr'.` */
function describeFrozen({ file, line, error, message, reason }: Frozen): string {
  if (reason === 'start') return 'Waits at its start.';
  const place = line === 0 ? file : `${file}:${line}`;
  if (reason === 'limit') return `Waits at ${place}, just before its time limit.`;
  const why = reason === 'breakpoint' ? 'breakpoint' : `${error} ${message}`.trim();
  return `Waits at ${place}: ${why}.`;
}

function timeLeft({ until }: Frozen): string {
  return `${formatDuration(Math.max(0, Math.round((Date.parse(until) - Date.now()) / 1000)))} left.`;
}

/** @throws AppError `conflict` for a job that is over, `refused` for one that no debugger can be attached to. */
function requireDebugged(job: Job): Debugged {
  const { state = '', frozen = null, finishedAt = null } = patchFromJob(job);
  if (finishedAt === null && job.debug === null) {
    const message = 'No debugger can be attached to this job. Submit it with --debug.';
    throw new AppError('refused', message);
  }
  return { state, frozen };
}

async function untilRunning(
  read: () => Promise<Debugged>,
  { terminal, outputSignal: signal }: Context,
): Promise<Debugged> {
  for (let isShown = false; ; isShown = true) {
    const job = await read();
    if (job.state === 'running') return job;
    if (isOver({ state: job.state, finishedAt: null, exitCode: null })) {
      throw new AppError(
        'conflict',
        printableLine(`The job is over (${job.state}). Only a running job can be debugged.`),
      );
    }
    if (!isShown) terminal.note(printableLine(`Waits until the job starts (${job.state}).`));
    await sleep(POLL_MS, undefined, { signal });
  }
}

/** The process that failed, or else the first one, once there is one. */
async function findProcess(
  tunnel: JobTunnelClient,
  read: () => Promise<Debugged>,
  { terminal, outputSignal: signal }: Context,
): Promise<Pick<DebuggableProcess, 'process' | 'language'> & { readonly folder: string; readonly job: Debugged }> {
  for (let isShown = false; ; isShown = true) {
    const [{ processes, folder }, job] = [await tunnel.debugProcesses(), await read()];
    const [first, ...others] = processes.toSorted((a, b) => a.process - b.process);
    const chosen = processes.find(({ process }) => process === job.frozen?.process) ?? first;
    if (chosen !== undefined) {
      const { process, language } = chosen;
      if (others.length > 0) {
        for (const each of processes.slice(0, MAX_PROCESSES)) terminal.note(describeProcess(each, process));
      }
      return { process, language, folder, job };
    }
    if (!isShown) terminal.note('Waits for a process of the job that runs Python or Node.js.');
    await sleep(POLL_MS, undefined, { signal });
  }
}

function describeProcess({ process, name, rank, state }: DebuggableProcess, chosen: number) {
  const mark = process === chosen ? '>' : ' ';
  return printableLine(`${mark} ${process} ${name}${rank === undefined ? '' : ` rank ${rank}`} (${state})`);
}
