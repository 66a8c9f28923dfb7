// Imported first by processes that stand for the command, which sets this at its start (src/cli/start.ts). As an option of Node.js, the
// flag has no effect: without it, the space for new objects takes up to 134 MB. This is no TypeScript, whose loader would take memory too.
import { setFlagsFromString } from 'node:v8';

setFlagsFromString('--semi-space-growth-factor=1');
