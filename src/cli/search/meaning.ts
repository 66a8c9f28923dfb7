import { resolve } from 'node:path';
import { openEmbedder } from '../../agents/rag/openEmbedder.ts';
import { AppError, messageOf } from '../../core/errors.ts';
import { formatCount } from '../../core/text/format.ts';
import { farwharfHome } from '../../core/files/home.ts';
import type { Index } from '../../retrieval/index/index.ts';
import { parseQuery } from '../../retrieval/search/query.ts';
import type { EmbeddingEstimate } from '../../retrieval/semantic/folderVectors.ts';
import { FolderVectors } from '../../retrieval/semantic/folderVectors.ts';
import type { NearChunk } from '../../retrieval/search/nearChunks.ts';
import type { SemanticState } from '../../retrieval/semantic/folderVectors.ts';
import {
  type EmbeddingChoice,
  readEmbeddingChoice,
  writeEmbeddingChoice,
} from '../../retrieval/semantic/embeddingChoice.ts';
import { hasModel, modelHub } from '../../retrieval/semantic/localEmbedder.ts';
import { findModelLibrary, installModelLibrary } from '../../retrieval/semantic/modelLibrary.ts';
import { confirm } from '../command/confirm.ts';
import type { Context } from '../command/commandContext.ts';
import { Progress } from '../terminal/progressLine.ts';

// As many results as keyword ranking contributes to the merged list.
const NEAR = 100;

export interface MeaningFlags {
  /** `local` or a service; false turns semantic ranking off. */
  readonly meaning?: string | false;
  readonly model?: string;
  readonly modelPath?: string;
  readonly baseUrl?: string;
  readonly yes?: boolean;
}

/** The outcome of semantic ranking, for people and for programs. */
export interface MeaningOutcome {
  readonly state: SemanticState;
  readonly estimate?: EmbeddingEstimate;
  readonly note: string;
}

/**
 * Embeds new texts of a folder if semantic ranking is on, by the flags or an earlier choice; returns undefined if it is off. Nothing is
 * installed, downloaded or sent before the user agrees.
 *
 * @throws AppError if the model is not available or embedding fails; the signal's reason on Ctrl+C. Finished embeddings are kept.
 */
export async function embedFolder(
  { root, index }: { readonly root: string; readonly index: Index },
  flags: MeaningFlags,
  context: Context,
): Promise<MeaningOutcome | undefined> {
  const home = farwharfHome(context.env);
  if (flags.meaning === false) {
    await writeEmbeddingChoice(home, root, undefined);
    return { state: { type: 'off' }, note: 'This folder uses keyword ranking only.' };
  }
  const choice =
    flags.meaning === undefined ? await readEmbeddingChoice(home, root) : chosen(flags.meaning, flags, context.cwd);
  if (choice === undefined) return undefined;
  if (choice.provider === 'local') await prepareLocal(choice, flags, context);
  const progress = new Progress(context.terminal, 'downloading the model');
  const embedder = await openEmbedder({ ...choice, onProgress: (done, total) => progress.update(done, total) });
  using vectors = await FolderVectors.open({ root, home, embedder });
  const { signal, terminal } = context;
  const estimate = await vectors.estimate(index.sources(), { signal });
  const isAgreed = choice.provider === 'local' || flags.yes === true || estimate.texts === 0;
  const question = `${describe(estimate)} will be sent to ${choice.provider}.`;
  if (!isAgreed && !(await confirm(`${question} Embed them?`, context))) {
    return { state: vectors.state, estimate, note: `${question} Nothing was sent. To send without asking, use --yes.` };
  }
  await writeEmbeddingChoice(home, root, choice);
  await vectors.embed(index.sources(), {
    signal,
    onProgress: ({ done, total, waiting }) =>
      terminal.status(
        waiting === undefined
          ? `embedding ${done.toLocaleString('en-US')} of ${formatCount(total, 'text')}`
          : `the service is busy; trying again in ${Math.ceil(waiting)} s`,
      ),
  });
  terminal.clearStatus();
  return {
    state: vectors.state,
    estimate,
    note: `Semantic ranking is on, with ${embedder.id}: ${formatCount(estimate.texts, 'new text')}.`,
  };
}

/** The chunks nearest to a query, with the state of semantic ranking; undefined if it is off. */
export async function nearestPlaces(
  query: string,
  root: string,
  context: Context,
): Promise<{ readonly near: readonly NearChunk[]; readonly state: SemanticState } | undefined> {
  const home = farwharfHome(context.env);
  const choice = await readEmbeddingChoice(home, root);
  if (choice === undefined) return undefined;
  try {
    const embedder = await openEmbedder({ ...choice, mayDownload: false });
    using vectors = await FolderVectors.open({ root, home, embedder });
    const { text, paths } = parseQuery(query);
    const accepts = (path: string): boolean => paths.accepts(path);
    const near = await vectors.nearest(text, NEAR, { signal: context.signal, accepts });
    return { near, state: vectors.state };
  } catch (error) {
    context.signal.throwIfAborted();
    return { near: [], state: { type: 'failed', reason: messageOf(error) } };
  }
}

/** Why a search used keyword ranking only, although semantic ranking is on; undefined if it did not. */
export function describeFallback(state: SemanticState): string | undefined {
  if (state.type === 'failed') return `Keyword ranking only: ${state.reason}`;
  if (state.type !== 'unfinished') return undefined;
  return `Keyword ranking only: ${state.done.toLocaleString('en-US')} of ${formatCount(state.total, 'text')} are embedded. Continue with:  farwharf index`;
}

function chosen(provider: string, { model, modelPath, baseUrl }: MeaningFlags, cwd: string): EmbeddingChoice {
  return { provider, model, baseUrl, localModelPath: modelPath === undefined ? undefined : resolve(cwd, modelPath) };
}

async function prepareLocal(choice: EmbeddingChoice, { yes }: MeaningFlags, context: Context): Promise<void> {
  const home = farwharfHome(context.env);
  const hasLibrary = findModelLibrary(home) !== undefined;
  if (hasLibrary && (choice.localModelPath !== undefined || hasModel(choice, home))) return;
  const what = describePreparation(choice, home, hasLibrary);
  if (yes !== true && !(await confirm(`${what} Continue?`, context))) {
    throw new AppError('missing', `${what} Nothing was installed. To install without asking, use --yes.`);
  }
  const { signal, env, terminal } = context;
  const progress = new Progress(terminal, 'installing');
  const onProgress = (done: number, total: number): void => progress.update(done, total);
  if (!hasLibrary) await installModelLibrary(home, { signal, env, onProgress });
}

function describePreparation({ model, localModelPath }: EmbeddingChoice, home: string, hasLibrary: boolean): string {
  const { host } = new URL(modelHub());
  const library = `a library of about 35 MB, which npm installs into ${home}`;
  if (localModelPath !== undefined) return `Semantic ranking on this machine needs ${library}.`;
  const download = model === undefined ? 'a model of about 25 MB' : `the model ${model}`;
  const parts = [...(hasLibrary ? [] : [library]), `${download} from ${host}`];
  return `Semantic ranking on this machine needs ${parts.join(', and ')}.`;
}

function describe({ texts, tokens, dollars }: EmbeddingEstimate): string {
  const price = dollars === undefined ? 'price unknown' : `for about $${dollars.toFixed(4)}`;
  return `${formatCount(texts, 'text')}, about ${formatCount(tokens, 'token')}, ${price},`;
}
