// Submits a folder with a script `run.sh` once as a whole archive, as to a service that takes no contents, in a process of its own.
import { rmSync } from 'node:fs';
import { RemoteClient } from '../../src/remote/client.ts';
import { packSelection } from '../../src/workspace/pack/pack.ts';
import { selectFiles } from '../../src/workspace/select/selection.ts';

const [root = '', archive = '', url = '', key = ''] = process.argv.slice(2);
const started = performance.now();
const { bytes } = await packSelection(await selectFiles(root, { isTrusted: true }), archive);
const client = new RemoteClient(url, key);
const { job_id } = await client.submitJob(archive, { script: 'run.sh', maxRuntime: 60 });
process.stdout.write(JSON.stringify({ bytes, seconds: (performance.now() - started) / 1000, job_id }));
await client.close();
rmSync(archive);
