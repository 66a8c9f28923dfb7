// A thread that builds segments: reading, cutting and counting a folder takes a processor for seconds.
import { parentPort } from 'node:worker_threads';
import { serveCalls } from '../core/workerRpc.ts';
import { type BuildTask, buildFiles, type Built } from './buildSegment.ts';
import { writeSegment } from './segmentFile.ts';
import { WordAnalyzer } from './words.ts';

export type IndexWorkerService = {
  readonly builder: {
    /** Builds a segment into a file. Its postings do not travel between the threads: the other one reads the file. */
    build(root: string, tasks: readonly BuildTask[], file: string): Promise<Omit<Built, 'segment'>>;
  };
};

const analyzer = new WordAnalyzer();
const service: IndexWorkerService = {
  builder: {
    async build(root, tasks, file) {
      const { segment, ...rest } = buildFiles(root, tasks, analyzer);
      if (segment.sources.length > 0) await writeSegment(file, segment);
      return rest;
    },
  },
};

if (parentPort !== null) serveCalls(parentPort, service);
