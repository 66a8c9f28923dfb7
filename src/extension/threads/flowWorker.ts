// The thread that reads flow files: parsing a large one would block the editor for too long.
import { parentPort } from 'node:worker_threads';
import { threadData } from '../../core/processes/threadData.ts';
import { serveCalls } from '../../core/rpc/serveCalls.ts';
import { FlowReader } from '../../flows/project/flowReader.ts';
import { RunQueries } from '../../flows/run/history/runQueries.ts';

export type FlowWorkerService = { readonly reader: FlowReader; readonly runs: RunQueries };

if (parentPort) {
  const { home } = threadData<{ readonly home: string }>();
  const service: FlowWorkerService = { reader: new FlowReader(), runs: new RunQueries(home) };
  serveCalls(parentPort, service);
}
