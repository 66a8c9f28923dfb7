import { realpath } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { plural } from '../../core/text/format.ts';
import {
  type EmbeddingChoice,
  readEmbeddingChoice,
  writeEmbeddingChoice,
} from '../../retrieval/semantic/embeddingChoice.ts';
import { DEFAULT_MODEL, hasModel, modelHub, openChosenModel } from '../../retrieval/semantic/localEmbedder.ts';
import { findModelLibrary, installModelLibrary } from '../../retrieval/semantic/modelLibrary.ts';
import { diskFolders, pickFolder } from '../workspace/folders.ts';
import { pickOne } from '../ui/picks.ts';
import type { Search } from './search.ts';
import { askModal, type PickItem, showCancellable } from '../ui/show.ts';
import { label, withoutIcons } from '../ui/labels.ts';

const TITLE = l10n.t('Search by Meaning');

interface ChoiceItem extends PickItem {
  readonly choose: () => Promise<EmbeddingChoice | 'words' | undefined>;
}

/** Lets the user choose a local model for semantic ranking of a folder, or keyword ranking only. Nothing is downloaded without consent. */
export async function rankByMeaning(search: Search): Promise<void> {
  const folders = diskFolders();
  const folder =
    folders.length > 1 ? await pickFolder(TITLE, l10n.t('Select the folder to search by meaning')) : folders[0];
  if (folder === undefined) return;
  const root = await realpath(folder.uri.fsPath);
  const current = await readEmbeddingChoice(search.home, root);
  const picked = await pickOne<ChoiceItem>({
    title: TITLE,
    placeholder: l10n.t('Also finds passages that say the same in other words. Nothing leaves this machine.'),
    items: choices(current),
  });
  if (picked === undefined || picked === 'back') return;
  const choice = await picked.choose();
  if (choice === undefined) return;
  if (choice !== 'words' && !(await prepare(choice, search, folder))) return;
  await writeEmbeddingChoice(search.home, root, choice === 'words' ? undefined : choice);
  await search.index.call((server) => server.reloadEmbeddingModel());
}

function choices(current: EmbeddingChoice | undefined): readonly ChoiceItem[] {
  const hub: ChoiceItem = {
    label: label`$(cloud-download) ${l10n.t('A small model, downloaded once')}`,
    description: withoutIcons(DEFAULT_MODEL),
    detail: label`${l10n.t('About 25 MB from {0}', new URL(modelHub()).host)}`,
    choose: async () => ({ provider: 'local' }),
  };
  const fromFolder: ChoiceItem = {
    label: label`$(folder) ${l10n.t('A model in a folder...')}`,
    detail: label`${l10n.t('A sentence model with onnx/model.onnx')}`,
    choose: chooseModelFolder,
  };
  const words: ChoiceItem = {
    label: label`$(circle-slash) ${l10n.t('Keyword ranking only')}`,
    detail: label`${l10n.t('Removes the vectors of this folder')}`,
    choose: async () => 'words',
  };
  return current === undefined ? [hub, fromFolder] : [hub, fromFolder, words];
}

async function chooseModelFolder(): Promise<EmbeddingChoice | undefined> {
  const [uri] =
    (await vscode.window.showOpenDialog({
      title: l10n.t('Folder of the model'),
      openLabel: l10n.t('Use This Model'),
      canSelectFiles: false,
      canSelectFolders: true,
    })) ?? [];
  if (uri === undefined) return undefined;
  return { provider: 'local', model: basename(uri.fsPath), localModelPath: dirname(uri.fsPath) };
}

/** Installs and downloads what is missing once the user has agreed; false if the user has not. */
async function prepare(choice: EmbeddingChoice, search: Search, folder: vscode.WorkspaceFolder): Promise<boolean> {
  const { home, modelProgram } = search;
  const status = search.index.status.find((known) => known.folder === folder.uri.fsPath);
  const chunks =
    status === undefined
      ? l10n.t('the chunks of this folder')
      : plural(status.chunks, l10n.t('1 chunk'), l10n.t('{0} chunks'));
  const needsLibrary = findModelLibrary(home) === undefined;
  const sentences = [
    ...(needsLibrary ? [l10n.t('First, npm installs a library of about 35 MB.')] : []),
    ...(choice.localModelPath === undefined && !hasModel(choice, home)
      ? [l10n.t('The model is downloaded from {0}.', new URL(modelHub()).host)]
      : []),
    l10n.t(
      'The model then processes {0} in the background, on this machine and at no cost. Until it is done, search uses keyword ranking.',
      chunks,
    ),
  ];
  const detail = sentences.join(' ');
  const agreed = await askModal(TITLE, { detail }, l10n.t('Start'));
  if (agreed === undefined) return false;
  await showCancellable(l10n.t('Preparing the model'), async (signal, progress) => {
    const onProgress = (done: number, total: number): void =>
      progress.report({ message: `${Math.floor((100 * done) / Math.max(total, 1))} %` });
    if (needsLibrary) await installModelLibrary(home, { signal, onProgress });
    const model = await openChosenModel(choice, { home, program: modelProgram, mayDownload: true, onProgress });
    model.dispose();
    signal.throwIfAborted();
  });
  return true;
}
