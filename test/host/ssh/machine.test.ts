import { suite } from 'node:test';
import { sshIsMissing } from '../../service/support/sshServer.ts';
import { openSshMachine } from '../support/jobHost.ts';
import { declareMainJob } from '../support/mainJob.ts';

const missing = await sshIsMissing();
const skip = missing === undefined ? false : `NO SSH SERVER: ${missing}`;

suite('the packed extension with a machine over SSH', { skip }, () => declareMainJob(openSshMachine));
