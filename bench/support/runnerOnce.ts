// Replaces a job's runner: reports that the process which is named in the data folder runs the job, and ends. So one process
// can speak for hundreds of jobs, which that many processes could not on a machine with two cores.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bootIdentity, processIdentity } from '../../src/core/processes/processTree.ts';
import { claimJob, jobFolder, writeMarker } from '../../src/service/jobFiles/jobFolder.ts';

const folder = jobFolder(process.argv[2] ?? '');
const { pid } = JSON.parse(readFileSync(join(folder.path, '../../speaker.json'), 'utf8')) as { pid: number };
const identity = processIdentity(pid) ?? 'unknown';
claimJob(folder, { pid, identity });
writeMarker(folder.started, { pid, identity, boot: bootIdentity(), at: Date.now() });
