// The process with the indexes of the open folders, which keeps their memory and their work out of the extension host.
import { parentProcess, processData } from '../../core/rpc/rpcProgram.ts';
import { serveCalls } from '../../core/rpc/serveCalls.ts';
import { IndexServer } from '../../retrieval/server/indexServer.ts';
import type { OpenModel } from '../../retrieval/semantic/semanticIndex.ts';
import { openChosenModel } from '../../retrieval/semantic/localEmbedder.ts';
import { readCommits } from '../../workspace/git/commitLog.ts';
import { inspectSearchable, selectSearchable } from '../../workspace/select/searchableFiles.ts';

export type FolderIndexWorkerService = { readonly index: Omit<IndexServer, 'dispose'> };
export interface FolderIndexWorkerData {
  readonly home: string;
  readonly workerProgram: string;
  /** Path of the program for a model's thread. */
  readonly modelProgram: string;
}

/** Opens models on this machine only, without downloads, which happened when the model was selected. Vectors from a service are updated by the command line. */
function openLocalModel({ home, modelProgram }: FolderIndexWorkerData): OpenModel {
  return (choice) =>
    choice.provider === 'local'
      ? openChosenModel(choice, { home, program: modelProgram, mayDownload: false })
      : undefined;
}

const parent = parentProcess();
if (parent !== undefined) {
  const data = processData<FolderIndexWorkerData>();
  const { home, workerProgram } = data;
  const selector = { select: selectSearchable, inspect: inspectSearchable };
  const index = new IndexServer({ home, workerProgram, selector, readCommits, openModel: openLocalModel(data) });
  const service: FolderIndexWorkerService = { index };
  serveCalls(parent, service);
  process.once('exit', () => index.dispose());
}
