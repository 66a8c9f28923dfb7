// Ends the process with one line that says what the clone lacks, if it lacks anything: `node --import ./scripts/ready.mjs FILE`.
import { missingPackages, outdatedNode } from './requirements.mjs';

const lack = missingPackages() ?? outdatedNode(process.versions.node);
if (lack !== undefined) {
  process.stderr.write(`${lack}\n`);
  process.exit(1);
}
