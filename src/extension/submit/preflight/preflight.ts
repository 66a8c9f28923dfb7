import * as vscode from 'vscode';
import { assertNever } from '../../../core/errors.ts';
import { formatCredits, formatDuration } from '../../../core/text/format.ts';
import { type PreflightChoice, preflightRows, preflightTitle } from './preflightItems.ts';
import { parseTimeLimit, timeLimitOffers } from './preflightText.ts';
import { pickExcluded, pickIncluded } from './filePicks.ts';
import { pickOne } from '../../ui/picks.ts';
import { pickScript } from './scriptPick.ts';
import type { SubmitDraft, SubmitView } from './submitDraft.ts';
import { askText, type PickItem } from '../../ui/show.ts';
import { label, withoutIcons } from '../../ui/labels.ts';

interface PreflightItem extends PickItem {
  readonly choice?: PreflightChoice;
}

export interface PreflightDeps {
  readonly recentScripts: readonly string[];
  /** What turned up since the person asked not to be asked again. */
  readonly news: readonly string[];
  /** Looks at the folder and the prices again, for a changed draft. */
  view(draft: SubmitDraft): Promise<SubmitView>;
}

/**
 * Shows what will be sent, what it may cost and on which terms, and lets all of it be changed. Enter submits, Escape does not.
 * Undefined when the person does not submit.
 */
export async function showPreflight(
  firstDraft: SubmitDraft,
  firstView: SubmitView,
  deps: PreflightDeps,
): Promise<{ draft: SubmitDraft; view: SubmitView; isQuiet: boolean } | undefined> {
  let draft = firstDraft;
  let view = firstView;
  for (;;) {
    const items = preflightRows(draft, view, deps.news).map(toItem);
    const chosen = await pickOne<PreflightItem>({
      title: preflightTitle(view),
      placeholder: 'Enter submits. Choose a line to change it.',
      items,
    });
    if (chosen === undefined || chosen === 'back' || chosen.choice === undefined) return undefined;
    const { choice } = chosen;
    if (choice === 'submit' || choice === 'submitQuietly') return { draft, view, isQuiet: choice === 'submitQuietly' };
    const changed = await change(draft, view, choice, deps);
    if (changed === undefined) return undefined;
    if (changed !== 'back') {
      draft = changed;
      view = await deps.view(draft);
    }
  }
}

function toItem({ choice, label, description, detail }: ReturnType<typeof preflightRows>[number]): PreflightItem {
  if (choice === undefined) return { label, kind: vscode.QuickPickItemKind.Separator };
  return { choice, label, ...(description ? { description } : {}), ...(detail ? { detail } : {}) };
}

/** Lets one thing be changed; `back` leaves it, undefined (Escape) ends the submit. */
async function change(
  draft: SubmitDraft,
  view: SubmitView,
  choice: Exclude<PreflightChoice, 'submit' | 'submitQuietly'>,
  deps: PreflightDeps,
): Promise<SubmitDraft | 'back' | undefined> {
  switch (choice) {
    case 'script': {
      const options = { recent: deps.recentScripts, folderName: view.folderName, hasBack: true };
      const chosen = await pickScript(view.selection.files, options);
      return chosen === undefined || chosen === 'back' ? chosen : { ...draft, ...chosen };
    }
    case 'machine':
      return pickMachine(draft, view);
    case 'time':
      return pickTimeLimit(draft, view);
    case 'project':
      return askProject(draft, view);
    case 'requirements':
      return { ...draft, usesRequirements: !draft.usesRequirements };
    case 'sent':
      return pickExcluded(draft, view);
    case 'left':
      return pickIncluded(draft, view);
    default:
      return assertNever(choice);
  }
}

async function pickMachine(draft: SubmitDraft, view: SubmitView): Promise<SubmitDraft | 'back' | undefined> {
  const { machineClass: _, ...rest } = draft;
  const open = { label: label`The service decides`, draft: rest as SubmitDraft };
  const offers = view.rates.flatMap(({ machineClass, creditsPerMinute, description }) => {
    if (machineClass === null) return [];
    const highest = formatCredits((creditsPerMinute * draft.maxRuntime) / 60);
    return {
      label: withoutIcons(machineClass),
      description: label`${formatCredits(creditsPerMinute)} credits a minute · at most ${highest} in ${formatDuration(draft.maxRuntime)}`,
      ...(description === null ? {} : { detail: withoutIcons(description) }),
      draft: { ...draft, machineClass },
    };
  });
  const items = [...offers, open];
  const active = items.find((item) => item.draft.machineClass === draft.machineClass);
  const chosen = await pickOne({
    title: `${preflightTitle(view)}: machine class`,
    placeholder: 'Which machine runs the job?',
    items,
    hasBack: true,
    ...(active === undefined ? {} : { active }),
  });
  return chosen === undefined || chosen === 'back' ? chosen : chosen.draft;
}

async function pickTimeLimit(draft: SubmitDraft, view: SubmitView): Promise<SubmitDraft | 'back' | undefined> {
  const rate = view.estimate.type === 'known' ? view.estimate.creditsPerMinute : undefined;
  const items = timeLimitOffers(rate).map(({ seconds, label, cost }) => ({
    label: withoutIcons(label),
    description: withoutIcons(cost),
    seconds,
  }));
  const active = items.find(({ seconds }) => seconds === draft.maxRuntime);
  const chosen = await pickOne<PickItem & { seconds: number }>({
    title: `${preflightTitle(view)}: time limit`,
    placeholder: 'After this time the job is ended. Type any other one: 90 min, 6 h',
    items,
    hasBack: true,
    ...(active === undefined ? {} : { active }),
    typed: (text) => {
      const seconds = parseTimeLimit(text);
      const cost =
        rate === undefined || seconds === undefined ? '' : `at most ${formatCredits((rate * seconds) / 60)} credits`;
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

async function askProject(draft: SubmitDraft, view: SubmitView): Promise<SubmitDraft | 'back'> {
  const answer = await askText({
    title: `${preflightTitle(view)}: project`,
    prompt: 'The project that the service accounts this job to. Empty for none.',
    value: draft.project ?? '',
    ignoreFocusOut: true,
  });
  if (answer === undefined) return 'back';
  const { project: _, ...rest } = draft;
  return answer.trim() === '' ? rest : { ...rest, project: answer.trim() };
}
