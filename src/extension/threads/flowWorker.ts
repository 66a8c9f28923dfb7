// The thread that reads flow files: parsing a large one would block the editor for too long.
import { parentPort } from 'node:worker_threads';
import { threadData } from '../../core/processes/threadData.ts';
import { serveCalls } from '../../core/rpc/serveCalls.ts';
import { FlowReader } from '../../flows/project/flowReader.ts';
import { readTrace } from '../../flows/run/history/tracedFlows.ts';
import { VersionReader } from '../../flows/project/versionReader.ts';
import { RunQueries } from '../../flows/run/history/runQueries.ts';

export type FlowWorkerService = {
  readonly reader: FlowReader;
  readonly runs: RunQueries;
  readonly versions: VersionReader;
  readonly traces: { readonly read: typeof readTrace };
};

if (parentPort) {
  const { home } = threadData<{ readonly home: string }>();
  const reader = new FlowReader();
  const service: FlowWorkerService = {
    reader,
    runs: new RunQueries(home),
    versions: new VersionReader(reader),
    traces: { read: readTrace },
  };
  serveCalls(parentPort, service);
}
