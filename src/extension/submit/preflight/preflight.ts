import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { assertNever } from '../../../core/errors.ts';
import { formatDuration } from '../../../core/text/format.ts';
import { type SubmitDraft, withPackages } from '../../../jobs/plan/draft.ts';
import { type PreflightChoice, preflightRows, preflightTitle } from './preflightItems.ts';
import { describeMost } from '../../../jobs/plan/estimate.ts';
import { parseTimeLimit, rateText, timeLimitOffers } from './preflightText.ts';
import { pickExcluded, pickIncluded } from './filePicks.ts';
import { pickMany, pickOne } from '../../ui/picks.ts';
import type { StartedProgram } from '../../../jobs/selection/script.ts';
import type { SubmitView } from './submitView.ts';
import { askText, type PickItem } from '../../ui/show.ts';
import { label, withoutIcons } from '../../ui/labels.ts';

interface PreflightItem extends PickItem {
  readonly choice?: PreflightChoice;
  /** A typed script line. */
  readonly line?: string;
}

/** A file with an extension: text for another command, rather than for the name of a row. */
const COMMAND_LINE = /^\S+\.\w+(\s|$)/;

export interface PreflightDeps {
  /** What changed since the user turned off the question. */
  readonly changes: readonly string[];
  /** Plans a changed draft, or one whose files have changed. */
  view(draft: SubmitDraft, hasChanged?: boolean): Promise<SubmitView>;
  /** Rewrites the script with the line ends that shells read. */
  replaceLineEnds(view: SubmitView): Promise<void>;
  /** Asks what runs. */
  pickProgram(view: SubmitView): Promise<StartedProgram | 'back' | undefined>;
  /** The draft that runs something else. */
  useProgram(draft: SubmitDraft, program: StartedProgram): Promise<SubmitDraft>;
  /** Shows all files as a tree. Undefined if the user did not return from it. */
  reviewFiles(view: SubmitView): Promise<SubmitDraft | undefined>;
}

/** Shows what will be sent, on which terms and at what cost, and lets the user change all of it. Undefined if the user cancels. */
export async function showPreflight(
  first: SubmitView,
  deps: PreflightDeps,
): Promise<{ view: SubmitView; isQuiet: boolean } | undefined> {
  let view = first;
  for (;;) {
    const items = preflightRows(view, deps.changes).map(toItem);
    const chosen = await pickOne<PreflightItem>({
      title: preflightTitle(view),
      placeholder: l10n.t('Press Enter to submit, or select a line to change it.'),
      items,
      typed: (line) => (COMMAND_LINE.test(line) ? commandRow(line) : undefined),
    });
    if (chosen === undefined || chosen === 'back' || chosen.choice === undefined) return undefined;
    const { choice, line } = chosen;
    if (line !== undefined) {
      view = await deps.view(await deps.useProgram(view.draft, { script: line }));
      continue;
    }
    if (choice === 'submit' || choice === 'submitQuietly') return { view, isQuiet: choice === 'submitQuietly' };
    if (choice === 'lineEnds') {
      await deps.replaceLineEnds(view);
      view = await deps.view(view.draft, true);
      continue;
    }
    if (choice === 'all') {
      const reviewed = await deps.reviewFiles(view);
      if (reviewed === undefined) return undefined;
      view = await deps.view(reviewed);
      continue;
    }
    const changed = await change(view, choice, deps);
    // Escape goes one step back, as the Back button does.
    if (changed !== undefined && changed !== 'back') view = await deps.view(changed);
  }
}

function toItem({ choice, label, description, detail }: ReturnType<typeof preflightRows>[number]): PreflightItem {
  if (choice === undefined) return { label, kind: vscode.QuickPickItemKind.Separator };
  return { choice, label, ...(description ? { description } : {}), ...(detail ? { detail } : {}) };
}

function commandRow(line: string): PreflightItem {
  const description = label`${l10n.t('run this script')}`;
  return { choice: 'script', line, label: label`$(terminal) ${line}`, description, alwaysShow: true };
}

/** Asks for one term again. Returns the changed draft, or `back` or undefined (Escape) to keep it. */
async function change(
  view: SubmitView,
  choice: Exclude<PreflightChoice, 'submit' | 'submitQuietly' | 'all' | 'lineEnds'>,
  { pickProgram, useProgram }: Pick<PreflightDeps, 'pickProgram' | 'useProgram'>,
): Promise<SubmitDraft | 'back' | undefined> {
  const { draft } = view;
  switch (choice) {
    case 'script': {
      const chosen = await pickProgram(view);
      return chosen === undefined || chosen === 'back' ? chosen : useProgram(draft, chosen);
    }
    case 'machine':
      return pickMachine(view);
    case 'time':
      return pickTimeLimit(view);
    case 'project':
      return askProject(view);
    case 'packages':
      return pickPackages(view);
    case 'secrets':
      return pickSecrets(view);
    case 'volumes':
      return pickVolumes(view);
    case 'sent':
      return pickExcluded(view);
    case 'left':
      return pickIncluded(view);
    default:
      return assertNever(choice);
  }
}

async function pickMachine(view: SubmitView): Promise<SubmitDraft | 'back' | undefined> {
  const { draft } = view;
  const { machineClass: _, ...rest } = draft;
  const open: PickItem & { draft: SubmitDraft } = { label: label`${l10n.t('Service default')}`, draft: rest };
  const offers = view.rates.flatMap((rate) => {
    const { machineClass, description } = rate;
    if (machineClass === null) return [];
    return {
      label: withoutIcons(machineClass),
      description: label`${rateText(rate, draft.maxRuntime)}`,
      ...(description === null ? {} : { detail: withoutIcons(description) }),
      draft: { ...draft, machineClass },
    };
  });
  const items = [...offers, open];
  const active = items.find((item) => item.draft.machineClass === draft.machineClass);
  const chosen = await pickOne({
    title: l10n.t('{0}: machine class', preflightTitle(view)),
    placeholder: l10n.t('Select the machine class that runs the job.'),
    items,
    hasBack: true,
    ...(active === undefined ? {} : { active }),
  });
  return chosen === undefined || chosen === 'back' ? chosen : chosen.draft;
}

async function pickTimeLimit(view: SubmitView): Promise<SubmitDraft | 'back' | undefined> {
  const { draft } = view;
  const price = view.estimate.type === 'unknown' ? undefined : view.estimate;
  const items = timeLimitOffers(price).map(({ seconds, label, cost }) => ({
    label: withoutIcons(label),
    description: withoutIcons(cost),
    seconds,
  }));
  const active = items.find(({ seconds }) => seconds === draft.maxRuntime);
  const chosen = await pickOne<PickItem & { seconds: number }>({
    title: l10n.t('{0}: time limit', preflightTitle(view)),
    placeholder: l10n.t('The service stops the job after this time. Select a limit, or type one: 90 min, 6 h'),
    items,
    hasBack: true,
    ...(active === undefined ? {} : { active }),
    typed: (text) => {
      const seconds = parseTimeLimit(text);
      const cost = price === undefined || seconds === undefined ? '' : describeMost(price, seconds);
      return seconds === undefined
        ? undefined
        : {
            label: withoutIcons(formatDuration(seconds)),
            description: withoutIcons(cost),
            seconds,
            alwaysShow: true,
          };
    },
  });
  return chosen === undefined || chosen === 'back' ? chosen : { ...draft, maxRuntime: chosen.seconds };
}

async function askProject(view: SubmitView): Promise<SubmitDraft | 'back'> {
  const { draft } = view;
  const answer = await askText({
    title: l10n.t('{0}: project', preflightTitle(view)),
    prompt: l10n.t('Enter the project to charge this job to. Leave empty for none.'),
    value: draft.project ?? '',
    ignoreFocusOut: true,
  });
  if (answer === undefined) return 'back';
  const { project: _, ...rest } = draft;
  return answer.trim() === '' ? rest : { ...rest, project: answer.trim() };
}

async function pickPackages(view: SubmitView): Promise<SubmitDraft | 'back' | undefined> {
  const { draft, packageLists } = view;
  const installed = draft.venv?.['requirements'];
  const items: (PickItem & { readonly list: string | undefined })[] = [
    { label: label`${l10n.t('None')}`, description: label`${l10n.t('uses what the machine has')}`, list: undefined },
    ...packageLists.map((list) => ({ label: withoutIcons(l10n.t('Install from {0}', list)), list })),
  ];
  const active = items.find(({ list }) => list === installed);
  const chosen = await pickOne({
    title: l10n.t('{0}: packages', preflightTitle(view)),
    placeholder: l10n.t('Select the list of packages to install before the script starts.'),
    items,
    hasBack: true,
    ...(active === undefined ? {} : { active }),
  });
  return chosen === undefined || chosen === 'back' ? chosen : withPackages(draft, chosen.list);
}

/** Asks which secrets of the account the job gets. */
async function pickSecrets(view: SubmitView): Promise<SubmitDraft | 'back' | undefined> {
  const { draft, secretNames = [] } = view;
  const { secrets: before = [], ...rest } = draft;
  const names = [...new Set([...secretNames, ...before])];
  const items = names.map((name) => ({ label: withoutIcons(name), picked: before.includes(name), name }));
  const placeholder =
    items.length === 0
      ? l10n.t('You have no secrets here. Run Set Secret first.')
      : l10n.t('Select the secrets that the job gets as variables.');
  const chosen = await pickMany({
    title: l10n.t('{0}: secrets', preflightTitle(view)),
    placeholder,
    items,
    hasBack: true,
  });
  if (chosen === undefined || chosen === 'back') return chosen;
  const secrets = chosen.map(({ name }) => name);
  return secrets.length === 0 ? rest : { ...rest, secrets };
}

/** Asks which volumes of the account the job has. */
async function pickVolumes(view: SubmitView): Promise<SubmitDraft | 'back' | undefined> {
  const { draft, volumes: own } = view;
  const { volumes: before = [], ...rest } = draft;
  const names = [...new Set([...own.map(({ name }) => name), ...before])];
  const items = names.map((name) => {
    const isWritable = own.some((volume) => volume.name === name && volume.isWritable);
    const description = label`${isWritable ? l10n.t('read and write') : l10n.t('read-only')}`;
    return { label: withoutIcons(name), description, picked: before.includes(name), name };
  });
  const chosen = await pickMany({
    title: l10n.t('{0}: volumes', preflightTitle(view)),
    placeholder: l10n.t('Select the folders of the service that the job can use.'),
    items,
    hasBack: true,
  });
  if (chosen === undefined || chosen === 'back') return chosen;
  const volumes = chosen.map(({ name }) => name);
  return volumes.length === 0 ? rest : { ...rest, volumes };
}
