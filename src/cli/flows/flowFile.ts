import { resolve } from 'node:path';
import { diskHost } from '../../flows/project/diskHost.ts';
import { FlowProject, readFlows } from '../../flows/project/flowProject.ts';
import type { StepReach } from '../../flows/project/changedSteps.ts';
import { foreignFlows } from '../../flows/migration/foreignFlows.ts';
import type { FlowFile } from '../../flows/graph/graph.ts';
import type { Context } from '../command/commandContext.ts';
import { readNamedFile } from '../../core/files/namedFile.ts';

/** Reads the flows of a file on disk without running it. @throws AppError `missing` if it cannot be read. */
export async function readFlowFile(argument: string, { cwd }: Pick<Context, 'cwd'>): Promise<FlowFile> {
  const file = resolve(cwd, argument);
  return readFlows(file, await readNamedFile(file), diskHost);
}

/** What to say about a file that has no flows. */
export function withoutFlows(file: string): string {
  return foreignFlows(diskHost.read(file) ?? '') ?? 'Nothing in it creates a Flow of farwharf/agents.';
}

/** The code that each step of a flow file can reach. */
export async function readReachOf(file: string): Promise<StepReach> {
  return new FlowProject(diskHost).reach(file, await readNamedFile(file));
}

/** The flows of a file as its source shows them. A file that cannot be read as a flow may still run. */
export function readIfFlow(file: string): FlowFile | undefined {
  const text = diskHost.read(file);
  return text === undefined ? undefined : readFlows(file, text, diskHost);
}
