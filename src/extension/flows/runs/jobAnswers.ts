import { randomUUID } from 'node:crypto';
import { basename, join, posix } from 'node:path';
import * as l10n from '@vscode/l10n';
import { type Checkpoint, checkpointSchema } from '../../../agents/records/recordSchemas.ts';
import type { WindowParts } from '../../contributions/parts.ts';
import { jsonSchemaIssues } from '../../../agents/schema/jsonSchemaCheck.ts';
import { AppError } from '../../../core/errors.ts';
import { parseJson } from '../../../core/jsonFields.ts';
import { requireAllowed } from '../../../flows/run/history/answerRun.ts';
import { runFolder } from '../../../flows/run/history/runFolder.ts';
import { type RunRecord, runRecord } from '../../../flows/run/history/runRecord.ts';
import { isRunRecord, jobFileIn } from '../../../flows/run/start/jobRuns.ts';
import { answerFieldOf, parseAnswer } from '../../../flows/run/history/answerField.ts';
import { browseResults } from '../../../jobs/results/browse.ts';
import { holdLease } from '../../../jobs/ledger/lease.ts';
import { isWaiting, type JobRecord } from '../../../jobs/ledger/record.ts';
import { scriptArguments, shownScript } from '../../../jobs/selection/script.ts';
import { quotePath } from '../../../jobs/selection/scriptSuggestions.ts';
import type { Hosts } from '../../account/hosts.ts';
import type { JobStore } from '../../jobs/store/jobStore.ts';
import type { SubmitArguments } from '../../submit/submitArguments.ts';
import type { FlowAnswer } from '../../submit/selectionReader.ts';
import type { Worker } from '../../threads/worker.ts';
import { withoutIcons } from '../../ui/labels.ts';
import { askText, pickRow } from '../../ui/show.ts';
import type { FlowJobs } from './flowJobs.ts';

const MAX_FILE = 64_000_000;
const LEASE_MS = 30_000;
const WAITING = basename(runFolder('').waiting);
// The results may contain runs of earlier jobs, which were sent with this job.
const MAX_RUNS = 100;

/** Submits the folder of a flow. Returns our ID of the job, or undefined if the user cancelled. */
export type SubmitFlow = (
  wanted: SubmitArguments,
  options?: { readonly host?: string; readonly answer?: FlowAnswer; readonly showsLog?: boolean },
) => Promise<string | undefined>;

interface AnswerDeps extends Pick<WindowParts, 'home' | 'ledger' | 'signal'> {
  readonly browsed: Worker['browsed'];
  readonly hosts: Pick<Hosts, 'service'>;
  readonly store: Pick<JobStore, 'refresh'>;
  readonly submit: SubmitFlow;
}

/** Answers the questions of flows whose jobs ended to wait: a new job continues each, with the files of the folder as they are now. */
export class JobAnswers {
  readonly #deps: AnswerDeps;
  readonly #jobs: FlowJobs;
  /** Answers that were typed and not accepted, by job. */
  readonly #typed = new Map<string, string>();

  constructor(deps: AnswerDeps, jobs: FlowJobs) {
    this.#deps = deps;
    this.#jobs = jobs;
  }

  /** Asks the user for the answer to a job's question, and continues with it. */
  async ask(record: JobRecord): Promise<void> {
    if (!isWaiting(record)) throw notWaiting(record);
    const { question, input: schema } = record.waiting;
    const field = answerFieldOf(record.waiting);
    const title = l10n.t('{0} waits for an answer', shownScript(record.script));
    if (field.type === 'choices') {
      const rows = field.choices.map(({ label, value }) => ({ label: withoutIcons(label), value }));
      const row = await pickRow(rows, { title, placeHolder: question, ignoreFocusOut: true });
      if (row !== undefined) await this.answer(record, row.value);
      return;
    }
    const start = field.kind === 'json' && field.start !== '' ? JSON.stringify(JSON.parse(field.start)) : field.start;
    const typed = await askText({
      title,
      prompt: [question, field.hint].filter(Boolean).join(' · '),
      value: this.#typed.get(record.id) ?? start,
      ignoreFocusOut: true,
      validateInput: (text) => {
        const read = parseAnswer(field, text);
        if (!read.ok) return read.reason;
        return schema === undefined ? undefined : jsonSchemaIssues(schema, read.value)[0];
      },
    });
    const read = typed === undefined ? undefined : parseAnswer(field, typed);
    if (typed === undefined || read?.ok !== true) return;
    this.#typed.set(record.id, typed);
    await this.answer(record, read.value);
    this.#typed.delete(record.id);
  }

  /**
   * Continues the flow of a job in a new job.
   *
   * @throws AppError `conflict` if it was answered or is being answered, `bad-input` if the answer is not allowed, `missing` if its results
   * or its file are gone; as `submit`.
   */
  async answer({ id }: JobRecord, input: unknown): Promise<void> {
    const { ledger } = this.#deps;
    const owner = randomUUID();
    const lease = `answer ${id}`;
    if (!(await ledger.claim(lease, owner, LEASE_MS))) {
      throw new AppError('conflict', l10n.t('This job is being answered in another window.'));
    }
    await using _lease = holdLease(ledger, lease, { owner, leaseMs: LEASE_MS });
    const record = await ledger.get(id);
    if (record === undefined || !isWaiting(record)) throw notWaiting(record);
    const { resume, run } = await this.#readRun(record);
    requireAllowed(resume, input);
    const path = jobFileIn(record.folder, run.file);
    const { flow, flowName, shared } = run;
    const { host, folder, machineClass, project, maxRuntime } = record;
    const asked = {
      folder,
      file: join(folder, path),
      script: `${quotePath(path)} ${scriptArguments(record.script)}`.trim(),
      flow,
      flowName,
      shared,
      machineClass: machineClass ?? undefined,
      project: project ?? undefined,
      maxRuntime,
    };
    const next = await this.#deps.submit(asked, { host, answer: { resume, input }, showsLog: false });
    if (next === undefined) return;
    await ledger.update(id, { answeredBy: next });
    await this.#jobs.addAnswer(next, id);
    await this.#deps.store.refresh();
  }

  /** The checkpoint and the description of a job's run, from its results, which are downloaded if they are not here yet. */
  async #readRun(record: JobRecord): Promise<{ readonly resume: Checkpoint; readonly run: RunRecord }> {
    const { browsed, home, hosts, signal } = this.#deps;
    await browseResults({ service: hosts.service(record.host), home, browsed }, record, { signal });
    const records = (await browsed.under(record.id, [''])).filter(({ path }) => isRunRecord(path)).slice(-MAX_RUNS);
    const read = async (path: string): Promise<unknown> => {
      const bytes = await browsed.readAll(record.id, path, MAX_FILE);
      return bytes && parseJson(new TextDecoder().decode(bytes));
    };
    try {
      const runs = await Promise.all(
        records.map(async ({ path }) => ({ path, run: runRecord.parse(await read(path)) })),
      );
      const [newest] = runs.toSorted((one, other) => (one.run.startedAt < other.run.startedAt ? 1 : -1));
      const found = runs.find(({ run }) => run.job === record.jobId) ?? newest;
      const waiting = await read(posix.join(posix.dirname(found?.path ?? ''), WAITING));
      return { resume: checkpointSchema.parse(waiting), run: runRecord.parse(found?.run) };
    } catch (cause) {
      throw new AppError(
        'missing',
        l10n.t(
          'The results of this job do not contain the run that waits, so it cannot continue. Submit the flow again.',
        ),
        { cause },
      );
    }
  }
}

function notWaiting(record: JobRecord | undefined): AppError {
  if (record?.answeredBy === undefined || record.answeredBy === null) {
    return new AppError('bad-input', l10n.t('This job does not wait for an answer.'));
  }
  return new AppError('conflict', l10n.t('This job was answered already.'));
}
