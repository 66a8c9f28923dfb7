import { join } from 'node:path';
import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { AppError } from '../../core/errors.ts';
import { agreementTo, reviewConsent } from '../../jobs/plan/consent.ts';
import { type Agreement, findStarted, type FolderMemory, memoryOf, type SubmitDraft } from '../../jobs/plan/draft.ts';
import { readRateCard } from '../../jobs/plan/estimate.ts';
import { readTarget, type SubmitPlan } from '../../jobs/plan/plan.ts';
import { commandFile } from '../../jobs/selection/commandFile.ts';
import { scriptPath } from '../../jobs/selection/script.ts';
import { fetchAccount } from '../../jobs/service/api.ts';
import { LOCAL_HOST } from '../../jobs/service/host.ts';
import { withStarted } from '../../jobs/submit/scriptTerms.ts';
import { type Preflight, submitJobs, type SubmitRequest, type SubmitService } from '../../jobs/submit/submit.ts';
import { replaceWindowsLineEnds } from '../../workspace/scripts/lineEnds.ts';
import { isOwnGit } from '../../workspace/select/exclusion.ts';
import { readSetting } from '../contributions/config.ts';
import type { SubmitDeps } from './submitDeps.ts';
import { explain } from '../ui/errorText.ts';
import { showError, showProgress } from '../ui/show.ts';
import { hostLabel } from '../ui/words.ts';
import { chooseFolder, requireTrust } from '../workspace/folders.ts';
import { settleUnsaved } from '../workspace/unsaved.ts';
import { confirmSweep } from './confirmSweep.ts';
import { showPreflight } from './preflight/preflight.ts';
import { pickCommand } from './preflight/commandPick.ts';
import { pickProgram } from './preflight/scriptPick.ts';
import type { SubmitView } from './preflight/submitView.ts';
import { type FlowAnswer, SelectionReader } from './selectionReader.ts';
import { send } from './sending.ts';
import type { SubmitArguments } from './submitArguments.ts';
import { confirmProfile, describeEnvironment, useProfile } from './submitProfile.ts';

const TRY_AGAIN = l10n.t('Try Again');
const RUN_HERE = l10n.t('Run on This Machine');

/**
 * Sends a folder as a job, or as one for each combination of a profile's matrix, once the user has confirmed it. If the host cannot be
 * reached, offers to run the job on this machine.
 *
 * @param options.host where the user wants the job; by default the host of the profile, or the selected one.
 * @param options.answer for a flow that waited: what the new job continues with.
 * @param options.showsLog whether to show the log of the job; true by default.
 * @returns our ID of the job or of the sweep, or undefined if the user cancelled.
 */
export async function submit(
  services: SubmitDeps,
  asked: SubmitArguments,
  options: { readonly host?: string; readonly answer?: FlowAnswer; readonly showsLog?: boolean } = {},
): Promise<string | undefined> {
  requireTrust();
  const folder = await chooseFolder(asked, l10n.t('Submit Workspace'));
  if (!folder || !(await settleUnsaved(folder))) return undefined;
  const { name, uri } = folder;
  const root = uri.fsPath;
  const profile = asked.profile === undefined ? undefined : await useProfile(services, root, asked, options.host);
  // Each profile has its own terms and agreement.
  const key = asked.profile === undefined ? root : `${uri.fsPath} profile ${asked.profile}`;
  const memory = services.memory.get(key);
  const terms: SubmitRequest['terms'] = (job, parameters) => {
    const described = job?.terms({ env: {}, file: undefined, ...profile?.values, parameters });
    const venv = asked.packages === undefined ? {} : { venv: { ...described?.venv, requirements: asked.packages } };
    return { ...described, ...asked, ...venv };
  };
  const fixed = terms(profile?.job, profile?.job.combinations[0] ?? {});
  const { include = memory.include ?? [], exclude = memory.exclude ?? [] } = fixed;
  const choice = { include, exclude };
  await using reader = new SelectionReader(services, root, memory, { ...asked, ...options.answer });
  const host = profile?.host ?? options.host ?? services.hosts.current();
  const title = l10n.t('Reading {0}', name);
  const [answer, selection] = await showProgress({ location: vscode.ProgressLocation.Window, title }, () =>
    Promise.all([askAccount(services, host), reader.select(choice)]),
  );
  if ('unreachable' in answer) {
    const retryOn = await chooseOtherHost(host, answer.unreachable);
    return retryOn === undefined
      ? undefined
      : await submit(services, { ...asked, folder: root }, { ...options, host: retryOn });
  }
  if (selection.fileCount === 0 && selection.listedExclusions.every(isOwnGit)) {
    throw new AppError(
      'missing',
      l10n.t('The folder {0} has no files, so there is nothing to submit. Add a script to it.', name),
    );
  }
  const { account } = answer;
  const { ledger, home, hosts, selections } = services;
  const { isTrusted } = vscode.workspace;
  const request: SubmitRequest = {
    choice,
    selection,
    program: findStarted(fixed, selection, memory),
    job: profile?.job,
    terms,
    usual: { memory, defaults: defaultsOf(uri), rates: readRateCard(account) },
    isTrusted,
  };
  const at = { host, service: hostLabel(host), account };
  const service: SubmitService = {
    host,
    name: at.service,
    isSwitch: profile?.isSwitch ?? false,
    deps: { service: hosts.service(host), selections, ledger, home },
    target: () => readTarget(sourcesOf(services, host), at),
    send: ({ name: sweep, jobs: [first, ...others] }, work) => {
      const called = first === undefined || others.length > 0 ? sweep : first.plan.draft.script;
      const text = others.length > 0 ? l10n.t('Packing {0}', called) : l10n.t('Submitting {0}', called);
      // A flow that waits for an answer shows its question again.
      const started = options.answer ? undefined : { folder: root, name: called, request: asked };
      return send(services, text, work, { ...options, started });
    },
  };
  const submitted = await submitJobs(request, reader, service, {
    chooseProgram: async () => {
      const askCommand = commandAsker(services, { folderName: name, selection }, memory);
      const program = await pickProgram(selection, { folderName: name, hasBack: false, askCommand });
      return program === 'back' ? undefined : program;
    },
    allowProfile: confirmProfile,
    confirm: async (preflight) => {
      const { plans, access } = preflight;
      const notes = [...(access === undefined ? [] : [access.sentence]), ...describeEnvironment(profile?.job)];
      const [job, ...others] = plans.jobs;
      if (job === undefined || others.length > 0) return confirmSweep(preflight, { notes, service: at.service });
      const confirmed = await confirmJob(services, job.plan, preflight, {
        notes,
        folderName: name,
        memory,
        isForced: asked.lookFirst,
      });
      if (confirmed === undefined) return undefined;
      const { plan, agreement } = confirmed;
      // Before it is sent, so that Try Again after a failure offers this job and not the one before.
      await services.memory.set(key, memoryOf(plan.draft, agreement, memory), plan.draft);
      return { ...plans, jobs: [{ ...job, plan }] };
    },
  });
  if (submitted?.type !== 'sweep') return submitted?.record.id;
  services.sweeps.start(submitted.sweep);
  services.sweepPages.show(submitted.sweep);
  return submitted.sweep.id;
}

/** Where a service and this machine say what jobs can have. */
export function sourcesOf({ home, ledger, hosts }: SubmitDeps, host: string): Parameters<typeof readTarget>[0] {
  return {
    budgets: { home, ledger },
    listSecrets: () => hosts.secrets(host).listSecrets(),
    listEnvironments: () => hosts.environments(host),
  };
}

/** Asks about the only job, unless the user turned that off and nothing has changed. Undefined if the user cancelled. */
async function confirmJob(
  services: SubmitDeps,
  plan: SubmitPlan,
  { replan }: Preflight,
  {
    notes,
    folderName,
    memory,
    isForced = false,
  }: {
    readonly notes: readonly string[];
    readonly folderName: string;
    readonly memory: FolderMemory;
    readonly isForced: boolean | undefined;
  },
): Promise<{ readonly plan: SubmitPlan; readonly agreement: Agreement | undefined } | undefined> {
  const { root } = plan.selection;
  const { mustAsk, changes } = reviewConsent(plan, memory.agreement, readSetting('confirmSubmit'));
  if (!mustAsk && !isForced) return { plan, agreement: memory.agreement };
  const view = async (draft: SubmitDraft, hasChanged = false): Promise<SubmitView> => ({
    ...(await replan(draft, hasChanged)),
    folderName,
  });
  const confirmed = await showPreflight(
    { ...plan, folderName },
    {
      changes: [...notes, ...changes],
      view,
      replaceLineEnds: ({ draft: { script, command } }) =>
        replaceWindowsLineEnds(
          join(root, command === undefined ? scriptPath(script) : (commandFile(command)?.paths[0] ?? '')),
        ),
      reviewFiles: (shown) => services.files.review(shown, view),
      pickProgram: (shown) =>
        pickProgram(shown.selection, { folderName, hasBack: true, askCommand: commandAsker(services, shown, memory) }),
      useProgram: (draft, program) => withStarted(root, draft, program),
    },
  );
  if (confirmed === undefined) return undefined;
  return { plan: confirmed.view, agreement: confirmed.isQuiet ? agreementTo(confirmed.view) : undefined };
}

/** Asks for a command in the folder. */
function commandAsker(
  { selections }: SubmitDeps,
  { folderName: name, selection: { id } }: Pick<SubmitView, 'folderName' | 'selection'>,
  { commands: history = [] }: FolderMemory,
): () => ReturnType<typeof pickCommand> {
  return () => pickCommand({ name, history, listLevel: (folder) => selections.listLevel(id, folder) });
}

function defaultsOf(uri: vscode.Uri) {
  return {
    maxRuntime: readSetting('maxRuntime', uri),
    machineClass: readSetting('machineClass', uri),
    project: readSetting('project', uri),
  };
}

/** The account on a host, or the sentence that says why the host cannot be reached. @throws other errors of the service. */
async function askAccount(
  services: SubmitDeps,
  host: string,
): Promise<{ readonly account: unknown } | { readonly unreachable: string }> {
  try {
    return { account: await fetchAccount(() => services.account.ask(host)) };
  } catch (error) {
    const { kind, sentence } = explain(error, host);
    if (kind !== 'unreachable') throw error;
    services.log.warn('the host of a submit cannot be reached', { host, error });
    return { unreachable: sentence };
  }
}

/** Asks where to submit instead. Undefined if the user closes the message. */
async function chooseOtherHost(host: string, problem: string): Promise<string | undefined> {
  const offers = host === LOCAL_HOST ? [TRY_AGAIN] : [TRY_AGAIN, RUN_HERE];
  const chosen = await showError(l10n.t('{0} Nothing was sent.', problem), ...offers);
  return chosen === TRY_AGAIN ? host : chosen === RUN_HERE ? LOCAL_HOST : undefined;
}
