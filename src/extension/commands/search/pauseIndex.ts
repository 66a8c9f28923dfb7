import * as l10n from '@vscode/l10n';
import { showDone } from '../../ui/show.ts';
import type { Command } from '../command.ts';

export const pauseIndex: Command = async ({ search }) => {
  await search().setPaused(true);
  showDone(l10n.t('Index paused'));
};
