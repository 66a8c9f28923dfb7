import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { AppError, messageOf } from '../../core/errors.ts';
import { diskHost } from '../../flows/project/diskHost.ts';
import { readFlows } from '../../flows/project/flowProject.ts';
import type { FlowFile } from '../../flows/graph/graph.ts';

/** Reads the flows of a file on disk without running it. @throws AppError `missing` where it cannot be read. */
export async function readFlowFile(argument: string): Promise<FlowFile> {
  const file = resolve(argument);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (cause) {
    throw new AppError('missing', `${argument} cannot be read: ${messageOf(cause)}`, { cause });
  }
  return readFlows(file, text, diskHost);
}
