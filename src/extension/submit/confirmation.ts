import { agreementTo, reviewConsent } from '../../jobs/submit/consent.ts';
import type { Agreement, FolderMemory, SubmitDraft } from '../../jobs/submit/draft.ts';
import { readSetting } from '../contributions/config.ts';
import { showPreflight } from './preflight/preflight.ts';
import type { SubmitView } from './preflight/submitView.ts';

export interface Confirmed {
  readonly plan: SubmitView;
  /** The agreement to remember; undefined when the person must be asked again next time. */
  readonly agreement: Agreement | undefined;
}

/** Shows the preflight, unless the setting and an earlier agreement make it needless. Undefined when the person stops. */
export async function confirmSubmit(
  plan: SubmitView,
  { agreement, scripts }: FolderMemory,
  view: (draft: SubmitDraft) => Promise<SubmitView>,
): Promise<Confirmed | undefined> {
  const { mustAsk, changes } = reviewConsent(plan, agreement, readSetting('confirmSubmit'));
  if (!mustAsk) return { plan, agreement };
  const answer = await showPreflight(plan, { recentScripts: scripts, changes, view });
  if (!answer) return undefined;
  return { plan: answer.view, agreement: answer.isQuiet ? agreementTo(answer.view) : undefined };
}
