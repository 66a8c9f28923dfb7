import * as l10n from '@vscode/l10n';
import { showDone } from '../../ui/show.ts';
import type { Command } from '../command.ts';

export const resumeIndex: Command = async ({ search }) => {
  await search().setPaused(false);
  showDone(l10n.t('Index resumed'));
};
