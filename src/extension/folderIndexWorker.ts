// The thread that the indexes of the open folders live in: neither their memory nor their work is the extension host's.
import { parentPort, workerData } from 'node:worker_threads';
import { serveCalls } from '../core/workerRpc.ts';
import type { IndexService } from '../retrieval/indexService.ts';
import { LiveIndex } from '../retrieval/liveIndex.ts';
import { inspectSearchable, selectSearchable } from '../workspace/searchableFiles.ts';

export type FolderIndexWorkerService = { readonly index: IndexService };
export type FolderIndexWorkerData = { readonly home: string; readonly workerProgram: string };

if (parentPort) {
  const { home, workerProgram } = workerData as FolderIndexWorkerData;
  const selector = { select: selectSearchable, inspect: inspectSearchable };
  const index = new LiveIndex({ home, workerProgram, selector });
  const service: FolderIndexWorkerService = { index };
  serveCalls(parentPort, service);
  process.once('exit', () => index.dispose());
}
