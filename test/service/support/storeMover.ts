// Carries a store over, as the start of a service does. Usage: storeMover.ts FROM TO
import { silentLogger } from '../../../src/core/log.ts';
import { moveStore } from '../../../src/service/folders/moveFolders.ts';

const [, , from = '', to = ''] = process.argv;
process.stdout.write('begins\n');
await moveStore(from, to, silentLogger);
