import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { pathInside } from '../../core/files/pathInside.ts';
import { FlowJob, isFlowScript, withFlowRuntime } from '../../flows/run/job/flowJob.ts';
import { estimateCost, type Rate, readRateCard } from '../../jobs/submit/estimate.ts';
import { preflightJob, refuseErrors } from '../../jobs/submit/preflight.ts';
import type { JobRecord } from '../../jobs/ledger/record.ts';
import { scriptArguments, scriptPath } from '../../jobs/submit/script.ts';
import { readLimits } from '../../jobs/submit/serviceLimits.ts';
import { submitWorkspace } from '../../jobs/submit/submit.ts';
import { estimateArchiveBytes, type Selection } from '../../workspace/select/selection.ts';
import { readSetting } from '../contributions/config.ts';
import { type Confirmed, confirmSubmit } from './confirmation.ts';
import { chooseFolder, requireTrust } from '../workspace/folders.ts';
import { pickScript } from './preflight/scriptPick.ts';
import { quotePath } from './preflight/scripts.ts';
import { send } from './sending.ts';
import type { Services } from '../services/services.ts';
import { readSubmitArguments, type SubmitArguments } from './submitArguments.ts';
import type { SubmitDraft, SubmitView } from './preflight/submitDraft.ts';
import type { FolderMemory } from './preflight/submitMemory.ts';
import { settleUnsaved } from '../workspace/unsaved.ts';
import { hostLabel } from '../ui/words.ts';
import { showProgress } from '../ui/show.ts';

/** Sends a folder as a job, after showing what that means. Gives our id of the job, or undefined when the person stopped. */
export async function submit(services: Services, argument: unknown): Promise<string | undefined> {
  const args = readSubmitArguments(argument);
  requireTrust();
  const folder = await chooseFolder(args);
  if (!folder || !(await settleUnsaved(folder))) return undefined;
  const path = folder.uri.fsPath;
  const memory = services.memory.get(path);
  const { host, account, selection } = await look(services, folder, memory);
  const script = await chooseScript(args, folder, selection, memory);
  if (script === undefined) return undefined;

  const rates = readRateCard(account);
  const view = async (draft: SubmitDraft): Promise<SubmitView> => {
    const chosen = isSameChoice(draft, memory) ? selection : await select(services, path, draft);
    const sent = await withRuntime(services, draft.script, chosen);
    const terms = { ...draft, estimatedBytes: estimateArchiveBytes(sent) };
    return {
      folderName: folder.name,
      host,
      rates,
      estimate: estimateCost(account, draft),
      findings: preflightJob(account, terms, hostLabel(host)),
      maxUploadBytes: readLimits(account).maxUploadBytes,
      selection: sent,
    };
  };
  const confirmed = await confirmSubmit(firstDraft(args, folder, memory, { script, rates }), memory, view);
  if (!confirmed) return undefined;
  const record = await sendConfirmed(services, host, confirmed, args);
  const { script: line, ...choices } = confirmed.draft;
  const { agreement } = confirmed;
  await services.memory.set(path, agreement === undefined ? choices : { ...choices, agreement }, line);
  return record.id;
}

async function sendConfirmed(
  services: Services,
  host: string,
  { draft, view }: Confirmed,
  args: SubmitArguments,
): Promise<JobRecord> {
  const { archiver, home, hosts, ledger } = services;
  const { estimate, findings, maxUploadBytes, selection } = view;
  refuseErrors(findings);
  const { machineClass, maxRuntime, project, script } = draft;
  await using flow = await prepareFlow(services, selection, script, args);
  const request = {
    host,
    selection: flow?.selection ?? selection,
    script: flow?.script ?? script,
    maxRuntime,
    isTrusted: vscode.workspace.isTrusted,
    ...(maxUploadBytes === undefined ? {} : { maxUploadBytes }),
    ...(project === undefined ? {} : { project }),
    ...(machineClass === undefined ? {} : { machineClass }),
    ...(draft.usesRequirements ? { venv: { requirements: 'requirements.txt' } } : {}),
    ...(estimate.type === 'known' ? { creditsPerMinute: estimate.creditsPerMinute } : {}),
  };
  const deps = { service: hosts.service(host), archiver, ledger, home };
  return await send(services, script, (options) => submitWorkspace(deps, request, options));
}

/** What a person sees of the files includes those that run a flow. */
async function withRuntime({ flowRuntime }: Services, script: string, selection: Selection): Promise<Selection> {
  return (await isFlow(selection, script)) ? withFlowRuntime(selection, flowRuntime.runner) : selection;
}

async function isFlow({ root }: Selection, script: string): Promise<boolean> {
  const file = scriptPath(script);
  return isFlowScript(file, await readFile(join(root, file), 'utf8').catch(() => ''));
}

/** A file of flows goes with what runs it; undefined for any other script. */
async function prepareFlow(
  { flowRuntime }: Services,
  selection: Selection,
  script: string,
  { file: asked, flow, shared }: SubmitArguments,
): Promise<FlowJob | undefined> {
  if (!(await isFlow(selection, script))) return undefined;
  const { runner } = flowRuntime;
  const file = scriptPath(script);
  // The flow that was asked for is one of its own file; before sending another script may have been chosen.
  const isAsked = asked === undefined || pathInside(selection.root, asked) === file;
  const wanted = isAsked ? { flow, shared } : { flow: undefined, shared: undefined };
  return FlowJob.prepare({ selection, file, args: scriptArguments(script), ...wanted, runner });
}

/** Reads the folder and asks the service at the same time: both must be known before anything can be decided. */
async function look(services: Services, folder: vscode.WorkspaceFolder, memory: FolderMemory) {
  const host = services.hosts.current();
  const choice = { include: memory.include ?? [], exclude: memory.exclude ?? [] };
  const title = `Looking at ${folder.name}`;
  return showProgress({ location: vscode.ProgressLocation.Window, title }, async () => {
    const [account, selection] = await Promise.all([
      services.account.ask(host),
      select(services, folder.uri.fsPath, choice),
    ]);
    return { host, account, selection };
  });
}

function select(
  services: Services,
  folder: string,
  choice: Pick<SubmitDraft, 'include' | 'exclude'>,
): Promise<Selection> {
  const { include, exclude } = choice;
  return services.archiver.select(folder, {
    isTrusted: vscode.workspace.isTrusted,
    include,
    exclude,
    signal: services.signal,
  });
}

function isSameChoice(draft: SubmitDraft, memory: FolderMemory): boolean {
  const text = (paths: readonly string[] = []): string => JSON.stringify(paths);
  return text(draft.include) === text(memory.include) && text(draft.exclude) === text(memory.exclude);
}

async function chooseScript(
  args: SubmitArguments,
  folder: vscode.WorkspaceFolder,
  { files }: Selection,
  { scripts }: FolderMemory,
): Promise<string | undefined> {
  if (args.script !== undefined) return args.script;
  const file = args.file === undefined ? undefined : pathInside(folder.uri.fsPath, args.file) || undefined;
  if (file !== undefined) return scripts.find((line) => scriptPath(line) === file) ?? quotePath(file);
  const last = scripts[0];
  if (last !== undefined && files.some(({ path }) => path === scriptPath(last))) return last;
  const chosen = await pickScript(files, { recent: scripts, folderName: folder.name, hasBack: false });
  return chosen === 'back' ? undefined : chosen?.script;
}

function firstDraft(
  args: SubmitArguments,
  folder: vscode.WorkspaceFolder,
  memory: FolderMemory,
  known: { script: string; rates: readonly Rate[] },
): SubmitDraft {
  const { script, rates } = known;
  // A price list of one machine class leaves nothing to choose.
  const onlyClass = rates.length === 1 ? rates[0]?.machineClass : undefined;
  // The class chosen last may not exist on the host chosen since.
  const last = rates.some((rate) => rate.machineClass === memory.machineClass) ? memory.machineClass : undefined;
  const machineClass = args.machineClass ?? (readSetting('machineClass', folder.uri) || last || onlyClass);
  const project = args.project ?? memory.project ?? readSetting('project', folder.uri);
  return {
    script,
    maxRuntime: args.maxRuntime ?? memory.maxRuntime ?? readSetting('maxRuntime', folder.uri),
    usesRequirements: memory.usesRequirements ?? false,
    include: memory.include ?? [],
    exclude: memory.exclude ?? [],
    ...(machineClass ? { machineClass } : {}),
    ...(project ? { project } : {}),
  };
}
