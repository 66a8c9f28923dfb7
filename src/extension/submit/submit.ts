import { join } from 'node:path';
import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { AppError } from '../../core/errors.ts';
import { budgetCheck } from '../../jobs/plan/budgetCheck.ts';
import { agreementTo, reviewConsent } from '../../jobs/plan/consent.ts';
import { findScript, firstDraft, memoryOf, type SubmitDraft } from '../../jobs/plan/draft.ts';
import { mayListSecrets } from '../../jobs/plan/secretFindings.ts';
import { keepsEnvironments } from '../../jobs/plan/packages.ts';
import { readRateCard } from '../../jobs/plan/estimate.ts';
import { createPlanner } from '../../jobs/plan/plan.ts';
import { sendPlan } from '../../jobs/send/pack.ts';
import { readSetting } from '../contributions/config.ts';
import type { SubmitDeps } from './submitDeps.ts';
import { showError, showProgress } from '../ui/show.ts';
import { hostLabel } from '../ui/words.ts';
import { scriptPath } from '../../jobs/selection/script.ts';
import { replaceWindowsLineEnds } from '../../workspace/files/lineEnds.ts';
import { isOwnGit } from '../../workspace/select/exclusion.ts';
import { chooseFolder, requireTrust } from '../workspace/folders.ts';
import { settleUnsaved } from '../workspace/unsaved.ts';
import { type FlowAnswer, prepareFlow } from './flowScript.ts';
import { showPreflight } from './preflight/preflight.ts';
import { pickScript } from './preflight/scriptPick.ts';
import type { SubmitView } from './preflight/submitView.ts';
import { SelectionReader } from './selectionReader.ts';
import { send } from './sending.ts';
import type { SubmitArguments } from './submitArguments.ts';
import { profileOf, readBatch, withScript } from './submitBatch.ts';
import { submitSweep } from './submitSweep.ts';
import { agreeToProfile, useProfile } from './submitProfile.ts';
import { LOCAL_HOST } from '../../jobs/service/host.ts';
import { explain } from '../ui/errorText.ts';

const TRY_AGAIN = l10n.t('Try Again');
const RUN_HERE = l10n.t('Run on This Machine');

/**
 * Sends a folder as a job once the user has confirmed it. If the host cannot be reached, offers to run the job on this machine.
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
  const profile = asked.profile === undefined ? undefined : await useProfile(services, uri.fsPath, asked, options.host);
  // Each profile has its own terms and agreement.
  const key = asked.profile === undefined ? uri.fsPath : `${uri.fsPath} profile ${asked.profile}`;
  const memory = services.memory.get(key);
  const fixed = { ...profile?.terms, ...asked };
  const { include = memory.include ?? [], exclude = memory.exclude ?? [] } = fixed;
  const choice = { include, exclude };
  await using reader = new SelectionReader(services, uri.fsPath, memory);
  const host = profile?.host ?? options.host ?? services.hosts.current();
  const title = l10n.t('Reading {0}', name);
  const [answer, selection] = await showProgress({ location: vscode.ProgressLocation.Window, title }, () =>
    Promise.all([askAccount(services, host), reader.select(choice)]),
  );
  if ('unreachable' in answer) {
    const retryOn = await chooseOtherHost(host, answer.unreachable);
    return retryOn === undefined
      ? undefined
      : await submit(services, { ...asked, folder: uri.fsPath }, { ...options, host: retryOn });
  }
  const { account } = answer;
  const news = profile === undefined ? [] : await agreeToProfile(services, profile, selection);
  if (news === undefined) return undefined;
  const budget = await budgetCheck(services, host);
  const stored = mayListSecrets(account) ? await services.hosts.secrets(host).listSecrets() : undefined;
  const secretNames = stored?.map(({ name: secret }) => secret);
  const environments = keepsEnvironments(account) ? await services.hosts.environments(host) : undefined;
  const target = { host, service: hostLabel(host), account, budget, secretNames, environments };
  const defaults = defaultsOf(uri);
  if (profile !== undefined && profile.job.combinations.length > 1) {
    const request = { profile, asked, target, selection, reader, defaults, notes: news };
    return await submitSweep(services, request);
  }
  if (selection.fileCount === 0 && selection.listedExclusions.every(isOwnGit)) {
    throw new AppError(
      'missing',
      l10n.t('The folder {0} has no files, so there is nothing to submit. Add a script to it.', name),
    );
  }
  const script =
    findScript(fixed, selection, memory) ?? (await pickScript(selection, { folderName: name, hasBack: false }));
  if (script === undefined || script === 'back') return undefined;
  const job = profile === undefined ? await readBatch(uri.fsPath, script) : undefined;
  const batch = job && profileOf(job, host);
  if (batch !== undefined && batch.job.combinations.length > 1) {
    return await submitSweep(services, { profile: batch, asked, target, selection, reader, defaults, notes: news });
  }
  const intent = { ...batch?.terms, ...fixed };

  const planner = createPlanner(target, reader, { choice, selection });
  const view = async (draft: SubmitDraft, hasChanged = false) => ({
    ...(await planner(draft, hasChanged)),
    folderName: name,
  });
  const replaceLineEnds = (line: string) => replaceWindowsLineEnds(join(uri.fsPath, scriptPath(line)));
  const reviewFiles = (shown: SubmitView) => services.files.review(shown, view);
  const useScript = (draft: SubmitDraft, line: string) => withScript(uri.fsPath, draft, line);
  const terms = { memory, defaults, rates: readRateCard(account) };
  const first = await view(firstDraft(intent, script, terms));
  const { mustAsk, changes } = reviewConsent(first, memory.agreement, readSetting('confirmSubmit'));
  const notes = [...news, ...changes];
  const mustShow = mustAsk || asked.lookFirst === true;
  const confirmed =
    mustShow && (await showPreflight(first, { changes: notes, view, replaceLineEnds, reviewFiles, useScript }));
  if (confirmed === undefined) return undefined;

  const plan = confirmed === false ? first : confirmed.view;
  const agreement = confirmed === false ? memory.agreement : confirmed.isQuiet ? agreementTo(plan) : undefined;
  // Before it is sent, so that Try Again after a failure offers this job and not the one before.
  await services.memory.set(key, memoryOf(plan.draft, agreement, memory), plan.draft.script);
  await using flow = await prepareFlow(services, plan, intent, options.answer);
  const ready =
    flow === undefined
      ? plan
      : {
          ...plan,
          selection: await reader.addFiles(plan.selection, flow.files),
          draft: { ...plan.draft, script: flow.script },
        };
  const { selections, home, hosts, ledger } = services;
  const deps = { service: hosts.service(host), selections, ledger, home };
  const record = await send(
    services,
    plan.draft.script,
    (options) => sendPlan(deps, ready, { ...options, isTrusted: vscode.workspace.isTrusted }),
    {
      ...options,
      // A flow that waits for an answer shows its question again.
      started: options.answer ? undefined : { folder: uri.fsPath, name: plan.draft.script, request: asked },
    },
  );
  return record.id;
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
    return { account: await services.account.ask(host) };
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
