// The thread that the indexes of the open folders live in: neither their memory nor their work is the extension host's.
import { parentPort, workerData } from 'node:worker_threads';
import { serveCalls } from '../../core/processes/workerRpc.ts';
import type { IndexService } from '../../retrieval/folder/indexService.ts';
import { LiveIndex } from '../../retrieval/folder/liveIndex.ts';
import type { OpenModel } from '../../retrieval/semantic/liveMeaning.ts';
import { openChosenModel } from '../../retrieval/embedding/localEmbedder.ts';
import { inspectSearchable, selectSearchable } from '../../workspace/select/searchableFiles.ts';

export type FolderIndexWorkerService = { readonly index: IndexService };
export interface FolderIndexWorkerData {
  readonly home: string;
  readonly workerProgram: string;
  /** The program of a model's thread. */
  readonly modelProgram: string;
}

/** A model on this machine, and nothing is fetched: that was done when it was chosen. What a service embeds, the command line keeps. */
function openLocalModel({ home, modelProgram }: FolderIndexWorkerData): OpenModel {
  return (choice) =>
    choice.provider === 'local'
      ? openChosenModel(choice, { home, program: modelProgram, mayDownload: false })
      : undefined;
}

if (parentPort) {
  const data = workerData as FolderIndexWorkerData;
  const { home, workerProgram } = data;
  const selector = { select: selectSearchable, inspect: inspectSearchable };
  const index = new LiveIndex({ home, workerProgram, selector, openModel: openLocalModel(data) });
  const service: FolderIndexWorkerService = { index };
  serveCalls(parentPort, service);
  process.once('exit', () => index.dispose());
}
