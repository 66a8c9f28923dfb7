import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import * as z from 'zod';
import { formatBytes, formatCount, formatCredits } from '../../core/text/format.ts';
import { describeHours } from '../../core/text/machineHours.ts';
import { numberField, textField } from '../../core/jsonFields.ts';
import { printableLine, printableText } from '../../core/text/printable.ts';
import type { AgentToolInput } from '../../jobs/agentTools/agentTools.ts';
import { runFlowLocally } from '../flows/flowRun.ts';
import { search } from '../search/search.ts';
import { describeAccess, missingConsent } from '../../jobs/profiles/profileConsent.ts';
import type { ProfileJob } from '../../jobs/profiles/profileJob.ts';
import { resolveHost } from '../../jobs/service/host.ts';
import { statedByAgent } from '../../remote/protocol/jobTerms.ts';
import { Session } from '../command/session.ts';
import { runSubmit } from '../submit/submit.ts';
import type { SubmitFlags } from '../submit/submitFlags.ts';
import { readProfileJob, withServiceOf } from '../submit/submitProfile.ts';
import { sweepAsJson } from '../sweeps/sweepJson.ts';
import { asText, type Captured, firstItems, lastObject, type ToolAnswer } from './toolCall.ts';
import { AppError } from '../../core/errors.ts';
import { pathInside } from '../../core/files/pathInside.ts';
import { nearestRealPath } from '../../core/files/realPaths.ts';
import { isProtectedPath } from '../../workspace/results/protectedNames.ts';

const DEFAULT_HITS = 10;
const MAX_HIT = 4_000;
const MAX_HITS = 40_000;
const MAX_FILES = 50;
const MAX_JOBS = 100;
const MAX_OUTPUT = 8_000;

const hit = z.looseObject({ path: z.string(), start_line: z.number(), end_line: z.number(), text: z.string() });
const output = z.looseObject({ type: z.literal('output'), text: z.string() });

export async function searchFolderTool(
  run: Captured,
  root: string,
  { query, limit = DEFAULT_HITS }: AgentToolInput<'search_folder'>,
): Promise<ToolAnswer> {
  await search(run.context, query, { folder: root, topK: limit, places: false, history: true, explain: false });
  let characters = 0;
  const hits = z
    .array(hit)
    .parse(lastObject(run.values())['hits'])
    .flatMap((found) => {
      const text = printableText(found.text.slice(0, MAX_HIT));
      characters += text.length;
      return characters > MAX_HITS ? [] : [{ ...found, text }];
    });
  const places = hits.map(({ path, start_line, end_line, text }) => `${path}:${start_line}-${end_line}\n${text}`);
  return { text: places.length === 0 ? 'Nothing matches that query.' : places.join('\n\n'), data: { hits } };
}

export async function preflightJobTool(run: Captured, root: string, input: AgentToolInput<'preflight_job'>) {
  await readToolProfile(run, root, input);
  await runSubmit(run.context, root, { ...submitFlags(input), dryRun: true });
  const { files, excluded, findings, jobs, ...rest } = lastObject(run.values());
  const data = {
    ...rest,
    findings,
    ...(jobs !== undefined && { jobs: firstItems(jobs, MAX_JOBS) }),
    files: firstItems(files, MAX_FILES),
    excluded: firstItems(excluded, MAX_FILES),
  };
  const price = highestPrice(rest);
  const size = formatBytes(numberField(rest, 'total_bytes') ?? 0);
  const heading = `${formatCount(data.files.count, 'file')}, ${size} would be sent. ${price} Nothing was sent.`;
  return { text: asText(heading, data), data };
}

function highestPrice(dryRun: object): string {
  const [core, credits] = ['max_core_hours', 'max_credits'].map((name) => numberField(dryRun, name));
  if (core !== undefined) {
    const hours = describeHours({ core, gpu: numberField(dryRun, 'max_gpu_hours') ?? 0 });
    return hours === '' ? 'It costs no credits.' : `Up to ${hours}.`;
  }
  return credits === undefined ? 'The price is unknown.' : `At most ${formatCredits(credits)} credits.`;
}

export async function submitJobTool(run: Captured, root: string, input: AgentToolInput<'submit_job'>) {
  const { name = '', combinations = [] } = (await readToolProfile(run, root, input)) ?? {};
  if (combinations.length > 1) {
    const message = `Profile ${name} describes ${combinations.length} jobs. Nothing was sent. Submit them with submit_sweep.`;
    throw new AppError('bad-input', message);
  }
  return submitAs(run, root, submitFlags(input));
}

export async function submitSweepTool(run: Captured, root: string, input: AgentToolInput<'submit_sweep'>) {
  const { combinations = [] } = (await readToolProfile(run, root, input)) ?? {};
  if (combinations.length === 1) {
    const message = `Profile ${input.profile} describes one job. Nothing was sent. Submit it with submit_job.`;
    throw new AppError('bad-input', message);
  }
  return submitAs(run, root, submitFlags(input));
}

/** Submits a job, or a sweep. The jobs of a sweep that must wait for others are sent after the answer, while the server runs. */
async function submitAs(run: Captured, root: string, flags: SubmitFlags): Promise<ToolAnswer> {
  const waiting = Promise.withResolvers<object>();
  const onSweepWait: SubmitFlags['onSweepWait'] = (sweep, records) => waiting.resolve(sweepAsJson(sweep, records));
  const submitted = runSubmit(run.context, root, { ...flags, onSweepWait }).then(() => lastObject(run.values()));
  submitted.catch(() => {}); // after the answer, list_jobs shows which jobs were sent
  const data: object = await Promise.race([submitted, waiting.promise]);
  const sweep = sentSweep.safeParse(data).data;
  return sweep === undefined ? describeSentJob(data) : describeSentSweep(sweep);
}

const sentSweep = z.object({
  sweep_id: z.string(),
  name: z.string(),
  end: z.string().optional(),
  jobs: z.array(
    z.object({ job_id: z.string().nullable(), state: z.string(), parameters: z.record(z.string(), z.unknown()) }),
  ),
});

function describeSentSweep({ jobs, end, ...sweep }: z.output<typeof sentSweep>): ToolAnswer {
  const count = jobs.filter(({ state }) => state !== 'not_sent').length;
  const rest =
    count === jobs.length
      ? ''
      : end === undefined
        ? ' The others follow as these end, while this server runs; list_jobs shows them.'
        : ` The others were not sent: ${end === 'cost-limit' ? 'they could exceed the maxCost of the profile' : 'the sweep was cancelled'}.`;
  const data = { ...sweep, jobs: firstItems(jobs, MAX_JOBS) };
  return { text: asText(`${count} of ${formatCount(jobs.length, 'job')} were sent.${rest}`, data), data };
}

function describeSentJob(data: object): ToolAnswer {
  const hold = numberField(data, 'credit_hold');
  const isUnpriced = numberField(data, 'unpriced_cpus') !== undefined;
  const most = isUnpriced ? ' It costs no credits.' : ` It costs at most ${formatCredits(hold ?? 0)} credits.`;
  const price = hold === undefined ? '' : most;
  return {
    text: `Job ${textField(data, 'job_id') ?? ''} was accepted.${price} Follow it with get_job.`,
    data: { ...data },
  };
}

/**
 * The profile that a call names. Its texts are shown to the model, so what it reads of this machine has to be allowed before they are read.
 *
 * @throws AppError `refused` if the user has not allowed it, which no tool can; as `readProfiles`, `findProfile` and `profileJob` do.
 */
async function readToolProfile(
  { context }: Captured,
  root: string,
  { profile, ...input }: Pick<AgentToolInput<'submit_job'>, 'profile' | 'script' | 'command'>,
): Promise<ProfileJob | undefined> {
  const job = await readProfileJob(root, { profile, set: undefined, script: undefined, ...input });
  if (job === undefined) return undefined;
  await using session = new Session(await withServiceOf(job, context));
  const { host, hostName, home } = session;
  const isSwitch = context.remote === undefined && host !== resolveHost({ env: context.env });
  const missing = await missingConsent(home, root, { ...job, host, isSwitch, include: [] });
  if (missing === undefined) return job;
  const sentence = `${describeAccess(job, missing, hostName)} The user has not allowed this, so nothing was sent.`;
  throw new AppError('refused', `${sentence} Ask the user to run:  farwharf submit --profile ${job.name}`);
}

export async function runFlowTool(run: Captured, root: string, { file, shared }: AgentToolInput<'run_flow'>) {
  const path = await confinedFile(root, file);
  const exit = await runFlowLocally(
    run.context,
    path,
    { json: true, ...(shared !== undefined && { shared: JSON.stringify(shared) }) },
    [],
  );
  const values = run.values();
  const { run: id, outcome } = lastObject(values);
  const texts = values.flatMap((value) => output.safeParse(value).data?.text ?? []);
  const printed = printableText(texts.join('').slice(-MAX_OUTPUT));
  const data = { run: id, succeeded: exit === 0, outcome, output: printed };
  return { text: asText(exit === 0 ? 'The flow succeeded.' : 'The flow did not succeed.', data), data };
}

function submitFlags(input: AgentToolInput<'submit_job'>): SubmitFlags {
  const { profile, packages, arguments: words } = input;
  return {
    ...statedByAgent(input),
    profile,
    packages,
    ...(words && { arguments: words }),
    watch: false,
    download: false,
    onConflict: 'keep-both',
    again: false,
    rehash: false,
    debug: false,
    holdAtLimit: false,
    dryRun: false,
    json: true,
  };
}

/**
 * The absolute path of a file or folder that a tool names, which need not exist.
 *
 * @param root the folder of the tools, without links.
 * @throws AppError `refused` if it is outside of the folder, also through a link, or if git, editors or shells act on its name.
 */
export async function confined(root: string, path: string): Promise<string> {
  const target = resolve(root, path);
  const existing = await nearestRealPath(target);
  const inside = pathInside(root, target);
  if (inside === undefined || pathInside(root, existing) === undefined || path.includes('\0')) {
    throw new AppError('refused', `${printableLine(path)} is outside of the folder ${root}. Name a path inside of it.`);
  }
  if (isProtectedPath(inside) || isProtectedPath(pathInside(root, existing) ?? '')) {
    const message = `${printableLine(path)} is not available to tools, because git, editors or shells act on it. Name another path.`;
    throw new AppError('refused', message);
  }
  return target;
}

/** The path of an existing file. @throws as `confined`, and AppError `missing`. */
async function confinedFile(root: string, path: string): Promise<string> {
  const file = await confined(root, path);
  const found = await stat(file).catch((): undefined => undefined);
  if (found?.isFile() === true) return file;
  throw new AppError('missing', `The file ${printableLine(path)} does not exist in the folder.`);
}
