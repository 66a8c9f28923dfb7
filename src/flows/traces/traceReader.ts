import { readTrace, type TracedFlows } from './tracedFlows.ts';

/** Reads traces in an editor's thread. */
export class TraceReader {
  /** Returns the runs of a trace file, with graphs of their steps; see `readTrace`. */
  read(file: string, text: string): TracedFlows {
    return readTrace(file, text);
  }
}
