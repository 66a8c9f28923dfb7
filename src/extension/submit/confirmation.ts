import { readSetting } from '../contributions/config.ts';
import { type Agreement, agreementTo, consentChanges } from './preflight/consentChanges.ts';
import { showPreflight } from './preflight/preflight.ts';
import type { SubmitDraft, SubmitView } from './preflight/submitDraft.ts';
import type { FolderMemory } from './preflight/submitMemory.ts';

export interface Confirmed {
  readonly draft: SubmitDraft;
  readonly view: SubmitView;
  /** What need not be asked again; undefined when it must be. */
  readonly agreement: Agreement | undefined;
}

/** Shows the preflight, unless the user's setting and what they agreed to before make it needless. Undefined: do not submit. */
export async function confirmSubmit(
  draft: SubmitDraft,
  memory: FolderMemory,
  view: (draft: SubmitDraft) => Promise<SubmitView>,
): Promise<Confirmed | undefined> {
  const mode = readSetting('confirmSubmit');
  const first = await view(draft);
  const news = memory.agreement === undefined ? [] : consentChanges(memory.agreement, agreementOf(draft, first));
  const isRefused = first.findings.some(({ severity }) => severity === 'error');
  const isAgreed = mode === 'untilNew' && memory.agreement !== undefined && news.length === 0 && !isRefused;
  if (mode === 'never' || isAgreed) return { draft, view: first, agreement: memory.agreement };
  const answer = await showPreflight(draft, first, { recentScripts: memory.scripts, news, view });
  if (!answer) return undefined;
  return { ...answer, agreement: answer.isQuiet ? agreementOf(answer.draft, answer.view) : undefined };
}

function agreementOf(draft: SubmitDraft, { host, selection, estimate }: SubmitView): Agreement {
  return agreementTo(selection, {
    host,
    cost: estimate.type === 'known' ? estimate.highest : undefined,
    choices: [...draft.include.map((path) => `+${path}`), ...draft.exclude.map((path) => `-${path}`)],
  });
}
