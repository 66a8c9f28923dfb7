import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type * as z from 'zod';
import { AppError } from '../../../core/errors.ts';
import { formatDuration } from '../../../core/text/format.ts';
import { formatCredits } from '../../../core/text/format.ts';
import { commandTitle } from '../../../remote/protocol/command.ts';
import type { jobCreated, LogEventData } from '../../../remote/protocol/schemas.ts';
import type { Submission } from '../../../remote/protocol/jobTerms.ts';
import type { Executor, RunnableJob } from '../../executor/executor.ts';
import type { JobFiles } from '../../jobFiles/jobFiles.ts';
import { insideRefusal, type InsideSettings, maxHoldOf } from '../../config/insideConfig.ts';
import type { MachineClass, MachineClasses } from '../../config/machineClasses.ts';
import { type RunnerSpec, runnerTerms } from '../../jobFiles/runnerSpec.ts';
import { toCredits } from '../../store/accounts/creditLedger.ts';
import { serviceLine } from '../../store/jobs/eventTable.ts';
import type { NewJob } from '../../store/jobs/jobTable.ts';
import type { Spendable } from '../../store/accounts/budgetTable.ts';
import type { Store } from '../../store/store.ts';
import type { KeptEnvironments } from '../../folders/keptEnvironments.ts';
import type { SecretVault } from '../../jobs/secretVault.ts';
import type { Volumes } from '../../folders/volumes.ts';
import { outOfScope } from '../access/keyScopes.ts';
import { refusal } from '../access/httpRefusal.ts';
import {
  checkArchive,
  type UploadContext,
  checkContents,
  type CheckedUpload,
  MAX_STORED_BYTES,
} from './checkUpload.ts';
import { SpooledUpload } from './spooledUpload.ts';
import { checkRunnable, parseScript, parseSubmission } from './parseSubmission.ts';
import { type ReceivedForm, receiveUpload } from './receiveUpload.ts';

export interface AcceptContext extends UploadContext {
  /** The key of the request, unless it is the one of `local`. */
  readonly keyId: string | undefined;
  readonly store: Store;
  readonly files: JobFiles;
  readonly machineClasses: MachineClasses;
  /** Seconds that a job of the account may request. */
  readonly maxRunTime: number;
  readonly killGraceMs: number;
  readonly maxLogBytes: number;
  readonly vault: Pick<SecretVault, 'has'>;
  /** Whether the key of the request may give secrets to jobs. */
  readonly mayUseSecrets: boolean;
  /** The ID of the key of the request, if its jobs must leave nothing for jobs of the account's other keys. */
  readonly restrictedKey: string | undefined;
  readonly executor: Pick<Executor, 'refusalOf' | 'refusalOfDebug' | 'keepsEnvironments' | 'placement' | 'connect'>;
  readonly inside: InsideSettings;
  readonly environments: Pick<KeptEnvironments, 'nameOf'>;
  readonly volumes: Pick<Volumes, 'refusalOf'>;
}

export type AcceptedJob = z.infer<typeof jobCreated>;

/** A received archive, or the names of its contents, and what came with it. */
export interface ReceivedUpload extends ReceivedForm {
  /** The ID of the new job. */
  readonly id: string;
  /** The bytes, or the path of the file with them. */
  readonly received: string | Buffer;
  /** The submission's idempotency key, if it has one. */
  readonly key?: { readonly key: string; readonly fingerprint: string };
}

/**
 * Receives an upload, checks all of it, and adds the job. The row in the store is written last, so a failure before that leaves no
 * job, no hold and, after the next start at the latest, no file. Once this resolves, the job survives a power loss.
 *
 * @throws HTTPException or AppError that says what is wrong with the upload.
 */
export async function acceptJob(
  incoming: IncomingMessage,
  context: AcceptContext,
  signal: AbortSignal,
): Promise<AcceptedJob> {
  return withNewJob(context, async (id) => {
    const spool = new SpooledUpload(MAX_STORED_BYTES, () => context.files.makeFolder(id).upload);
    const form = await receiveUpload(incoming, {
      openSink: () => spool,
      maxBytes: context.maxUploadBytes,
      roomRefusal: () => context.diskRefusal(0),
    });
    return addSubmittedJob({ id, received: spool.received, ...form }, context, signal);
  });
}

/** Calls `work` with the ID of a new job. What it keeps for the job is removed if it fails. */
export async function withNewJob<T>(
  { files, waiting }: Pick<AcceptContext, 'files' | 'waiting'>,
  work: (id: string) => Promise<T>,
): Promise<T> {
  const id = randomBytes(10).toString('hex');
  try {
    return await work(id);
  } catch (error) {
    await files.remove(id);
    await waiting.remove(id);
    throw error;
  }
}

/** Checks an upload, and adds the job. The archive is not moved until all checks have passed. @throws as `acceptJob`. */
export async function addSubmittedJob(
  upload: ReceivedUpload,
  context: AcceptContext,
  signal: AbortSignal,
): Promise<AcceptedJob> {
  const { account, keyId, store, machineClasses } = context;
  const { id, meta, key } = upload;
  const submission = parseSubmission(meta);
  checkRunTime(submission, context);
  checkSecrets(submission, context);
  checkVolumes(submission, context);
  const machineClass = chooseClass(submission, machineClasses);
  refuseUnavailable(machineClass, context.executor);
  checkClusterOptions(submission, { account, machineClass: machineClass.name }, context.executor);
  checkDebug(submission, { account, machineClass: machineClass.name }, context);
  const hold = machineClasses.priceOf(machineClass.name, submission.max_runtime, submission.debug?.hold);
  refuseWithoutCredits(hold, store.spendable(account, { keyId, project: submission.project ?? null }));
  const check = upload.part === 'tarball' ? checkArchive : checkContents;
  const checked = await check(upload.received, id, context, signal);
  const spec = specOf(checked, { id, submission }, context);
  if (spec.runs === 'script') await checkRunnable(spec.command[0], checked.files, (path) => checked.readStart(path));
  signal.throwIfAborted();
  const workspace = await checked.keep(spec);
  const { script = '', command, project, max_runtime: maxRuntime } = submission;
  const outcome = await store.submit(
    {
      id,
      account,
      keyId: keyId ?? null,
      script: command === undefined ? script : commandTitle(command),
      command: command === undefined ? null : JSON.stringify(command),
      project: project ?? null,
      machineClass: machineClass.name,
      maxRuntime,
      createdAt: Date.now(),
      hold,
      ...unpricedMachine(machineClass),
      ...(submission.debug && { debug: JSON.stringify(submission.debug), holdSeconds: submission.debug.hold }),
    },
    notesOn(checked),
    workspace,
    key,
  );
  if (!outcome.isAccepted) refuseWithoutCredits(hold, outcome.available);
  return { job_id: id, credit_hold: toCredits(hold), credits_remaining: toCredits(outcome.available.amount) };
}

function checkRunTime({ max_runtime: seconds }: Submission, { maxRunTime }: AcceptContext): void {
  if (seconds <= maxRunTime) return;
  const message = `meta.max_runtime: must be at most ${maxRunTime} seconds (${formatDuration(maxRunTime)}), the limit of this account.`;
  throw new AppError('bad-input', message);
}

function checkSecrets({ secrets = [] }: Submission, { account, vault, mayUseSecrets }: AcceptContext): void {
  if (secrets.length > 0 && !mayUseSecrets) throw outOfScope('secrets');
  const missing = secrets.filter((name) => !vault.has(account, name));
  if (missing.length === 0) return;
  const [are, them] = missing.length === 1 ? ['is', 'it'] : ['are', 'them'];
  const message = `meta.secrets: ${missing.join(', ')} ${are} not set. Set ${them} with farwharf secret set NAME.`;
  throw new AppError('bad-input', message);
}

function checkVolumes({ volumes: names = [] }: Submission, { account, volumes }: AcceptContext): void {
  const refused = volumes.refusalOf(names, account);
  if (refused !== undefined) throw new AppError('bad-input', `meta.volumes: ${refused}`);
}

/** Seconds that a job of an account may be frozen in all while it waits for a debugger; 0 if none can. */
export function holdLimit(
  account: string,
  { executor, inside }: { readonly executor: Pick<Executor, 'connect'>; readonly inside: InsideSettings },
): number {
  return executor.connect === undefined ? 0 : maxHoldOf(inside, account);
}

function checkDebug(
  { debug, cluster }: Submission,
  job: Pick<RunnableJob, 'account' | 'machineClass'>,
  context: Pick<AcceptContext, 'executor' | 'inside'>,
): void {
  if (debug === undefined) return;
  const { executor, inside } = context;
  const maxHold = holdLimit(job.account, context);
  const none = maxHold === 0 ? 'Jobs of this service cannot wait for a debugger.' : undefined;
  const refusal = insideRefusal(inside, job) ?? none ?? executor.refusalOfDebug?.(cluster, job.machineClass);
  if (refusal !== undefined) throw new AppError('bad-input', `meta.debug: ${refusal}`);
  if (debug.hold <= maxHold) return;
  const message = `meta.debug.hold: must be at most ${maxHold} seconds (${formatDuration(maxHold)}), the limit of this service.`;
  throw new AppError('bad-input', message);
}

function checkClusterOptions(
  { cluster }: Submission,
  job: Pick<RunnableJob, 'account' | 'machineClass'>,
  executor: Pick<Executor, 'refusalOf'>,
): void {
  if (cluster === undefined) return;
  const refusal =
    executor.refusalOf === undefined
      ? 'This service does not run jobs on a cluster. Submit without options for one.'
      : executor.refusalOf(cluster, job);
  if (refusal !== undefined) throw new AppError('bad-input', `meta.cluster: ${refusal}`);
}

function chooseClass({ machine_class: name }: Submission, classes: MachineClasses): MachineClass {
  const found = name === undefined ? classes.first : classes.get(name);
  if (found !== undefined) return found;
  const message = `meta.machine_class: "${name}" does not exist. Available: ${classes.names.join(', ')}.`;
  throw new AppError('bad-input', message);
}

function refuseUnavailable({ name }: MachineClass, { placement }: Pick<Executor, 'placement'>): void {
  const why = placement?.refusalOf(name);
  if (why === undefined) return;
  const message = `meta.machine_class: "${name}" is not available. ${why} Choose another machine class.`;
  throw new AppError('bad-input', message);
}

/** What a job has of its machine, if the class has no price. */
function unpricedMachine({ credits_per_minute: price, cpus, gpus }: MachineClass): Partial<NewJob> {
  return price === undefined ? { unpricedCpus: cpus, unpricedGpus: gpus } : {};
}

function specOf(
  { files }: CheckedUpload,
  { id, submission }: { id: string; submission: Submission },
  { account, restrictedKey, killGraceMs, maxLogBytes, executor, environments: kept }: AcceptContext,
): RunnerSpec {
  const environments = executor.keepsEnvironments() ? kept.nameOf(account, restrictedKey) : undefined;
  return {
    jobId: id,
    ...programOf(submission, files),
    maxRuntimeSeconds: submission.max_runtime,
    killGraceMs,
    maxLogBytes,
    // A submitted file of that name is kept.
    artifacts: files.some(({ path }) => path === 'artifacts') ? `artifacts-${id}` : 'artifacts',
    venv: submission.venv ?? null,
    ...(environments !== undefined && { environments }),
    ...runnerTerms(submission),
  };
}

function programOf(
  { script = '', command }: Submission,
  files: CheckedUpload['files'],
): Pick<RunnerSpec, 'runs' | 'command'> {
  if (command === undefined) return { runs: 'script', command: parseScript(script, files) };
  const [program = '', ...args] = command;
  return { runs: 'command', command: [program, ...args] };
}

function refuseWithoutCredits(hold: number, { amount, limit, name = '' }: Spendable): void {
  if (hold <= amount) return;
  const [needed, left] = [hold, amount].map((micro) => formatCredits(toCredits(micro)));
  const whose = {
    account: '',
    key: ' of the budget of this API key',
    group: ` of the credits of the group "${name}"`,
    project: ` of the budget of the project "${name}"`,
  };
  const message = `The job needs ${needed} credits for its time limit, but only ${left}${whose[limit]} are left. Lower the time limit or wait for running jobs to end.`;
  throw refusal(402, message);
}

function notesOn({ files, skipped }: CheckedUpload): readonly LogEventData[] {
  const renamed = files.flatMap(({ path, name }) => (name === undefined ? [] : `${name} is called ${path} in the job`));
  const leftOut = skipped.map(({ path, reason }) => `${path} was left out of the workspace: ${reason}`);
  return [...renamed, ...leftOut].map((line) => serviceLine(line));
}
