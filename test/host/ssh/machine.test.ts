import { sshIsMissing } from '../../service/support/sshServer.ts';
import { openSshMachine } from '../support/jobHost.ts';
import { describeMainJob } from '../support/mainJob.ts';

const missing = await sshIsMissing();

describeMainJob('the packed extension with a machine over SSH', openSshMachine, missing && `NO SSH SERVER: ${missing}`);
