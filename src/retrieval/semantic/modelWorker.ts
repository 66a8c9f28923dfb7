// The thread of an embedding model, because embedding occupies a processor.
import { parentPort } from 'node:worker_threads';
import { threadData } from '../../core/processes/threadData.ts';
import { serveCalls } from '../../core/rpc/serveCalls.ts';
import { type ModelPlace, SentenceModel } from './sentenceModel.ts';

export type ModelService = {
  readonly model: {
    /** Finds or downloads the model. Returns its fingerprint. */
    open(onProgress: (doneBytes: number, totalBytes: number) => void): Promise<string>;
    embed(texts: readonly string[], options: { readonly signal?: AbortSignal | undefined }): Promise<Float32Array[]>;
  };
};

const place = threadData<ModelPlace>();
let opened: Promise<SentenceModel> | undefined;

const service: ModelService = {
  model: {
    async open(onProgress) {
      opened = openModel(onProgress);
      return (await opened).fingerprint;
    },
    async embed(texts, options) {
      opened ??= openModel(() => {});
      return (await opened).embed(texts, options);
    },
  },
};

function openModel(onProgress: (doneBytes: number, totalBytes: number) => void): Promise<SentenceModel> {
  return SentenceModel.open(place, onProgress);
}

if (parentPort !== null) serveCalls(parentPort, service);
