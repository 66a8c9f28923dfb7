import * as l10n from '@vscode/l10n';
import type { SubmitDraft } from '../../../jobs/submit/draft.ts';
import { label, withoutIcons } from '../../ui/labels.ts';
import { pickMany } from '../../ui/picks.ts';
import { preflightTitle } from './preflightItems.ts';
import type { SubmitView } from './submitView.ts';

/** Asks which volumes of the account the job has. */
export async function pickVolumes(view: SubmitView): Promise<SubmitDraft | 'back' | undefined> {
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
