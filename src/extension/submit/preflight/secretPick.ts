import * as l10n from '@vscode/l10n';
import type { SubmitDraft } from '../../../jobs/submit/draft.ts';
import { withoutIcons } from '../../ui/labels.ts';
import { pickMany } from '../../ui/picks.ts';
import { preflightTitle } from './preflightItems.ts';
import type { SubmitView } from './submitView.ts';

/** Asks which secrets of the account the job gets. */
export async function pickSecrets(view: SubmitView): Promise<SubmitDraft | 'back' | undefined> {
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
