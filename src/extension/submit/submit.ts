import * as vscode from 'vscode';
import { agreementTo, reviewConsent } from '../../jobs/submit/consent.ts';
import { findScript, firstDraft, memoryOf, type SubmitDraft } from '../../jobs/submit/draft.ts';
import { readRateCard } from '../../jobs/submit/estimate.ts';
import { createPlanner, sendPlan } from '../../jobs/submit/plan.ts';
import { readSetting } from '../contributions/config.ts';
import type { Services } from '../services/services.ts';
import { showProgress } from '../ui/show.ts';
import { hostLabel } from '../ui/words.ts';
import { chooseFolder, requireTrust } from '../workspace/folders.ts';
import { settleUnsaved } from '../workspace/unsaved.ts';
import { prepareFlow } from './flowScript.ts';
import { showPreflight } from './preflight/preflight.ts';
import { pickScript } from './preflight/scriptPick.ts';
import { SelectionReader } from './selectionReader.ts';
import { send } from './sending.ts';
import { readSubmitArguments } from './submitArguments.ts';

/** Sends a folder as a job once the user has confirmed it. Returns our ID of the job, or undefined if the user cancelled. */
export async function submit(services: Services, argument: unknown): Promise<string | undefined> {
  const intent = readSubmitArguments(argument);
  requireTrust();
  const folder = await chooseFolder(intent);
  if (!folder || !(await settleUnsaved(folder))) return undefined;
  const { name, uri } = folder;
  const memory = services.memory.get(uri.fsPath);
  const choice = { include: memory.include ?? [], exclude: memory.exclude ?? [] };
  await using reader = new SelectionReader(services, uri.fsPath, memory.scripts);
  const host = services.hosts.current();
  const title = `Reading ${name}`;
  const [account, selection] = await showProgress({ location: vscode.ProgressLocation.Window, title }, () =>
    Promise.all([services.account.ask(host), reader.select(choice)]),
  );
  const script =
    findScript(intent, selection, memory) ??
    (await pickScript(selection.scripts, { folderName: name, hasBack: false }));
  if (script === undefined || script === 'back') return undefined;

  const target = { host, service: hostLabel(host), account };
  const planner = createPlanner(target, reader, { choice, selection });
  const view = async (draft: SubmitDraft) => ({ ...(await planner(draft)), folderName: name });
  const terms = { memory, defaults: defaultsOf(uri), rates: readRateCard(account) };
  const first = await view(firstDraft(intent, script, terms));
  const { mustAsk, changes } = reviewConsent(first, memory.agreement, readSetting('confirmSubmit'));
  const answer = mustAsk && (await showPreflight(first, { changes, view }));
  if (answer === undefined) return undefined;

  const plan = answer === false ? first : answer.view;
  const agreement = answer === false ? memory.agreement : answer.isQuiet ? agreementTo(plan) : undefined;
  await using flow = await prepareFlow(services, plan, intent);
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
  const record = await send(services, plan.draft.script, (options) =>
    sendPlan(deps, ready, { ...options, isTrusted: vscode.workspace.isTrusted }),
  );
  await services.memory.set(uri.fsPath, memoryOf(plan.draft, agreement), plan.draft.script);
  return record.id;
}

function defaultsOf(uri: vscode.Uri) {
  return {
    maxRuntime: readSetting('maxRuntime', uri),
    machineClass: readSetting('machineClass', uri),
    project: readSetting('project', uri),
  };
}
