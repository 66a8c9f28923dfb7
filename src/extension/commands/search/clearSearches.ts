import * as l10n from '@vscode/l10n';
import { showDone } from '../../ui/show.ts';
import type { Command } from '../command.ts';

export const clearSearches: Command = async ({ search }) => {
  await search().recent.clear();
  showDone(l10n.t('Recent searches cleared'));
};
