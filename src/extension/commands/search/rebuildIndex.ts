import * as l10n from '@vscode/l10n';
import { showDone } from '../../ui/show.ts';
import type { Command } from '../command.ts';

export const rebuildIndex: Command = async ({ search }) => {
  const { index } = search();
  await index.rebuild();
  showDone(index.isHeldUp ? l10n.t('The index is rebuilt once you resume it') : l10n.t('Rebuilding the index'));
};
