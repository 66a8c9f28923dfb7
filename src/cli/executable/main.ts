// Starts the program of a single executable, which is a Node.js that contains the command line, and once more itself, compressed. Jobs, flows and
// threads are started with the path of a Node.js and that of a program, so both are unpacked, and used as those of an installed package.
import { pathToFileURL } from 'node:url';
import vm from 'node:vm';
import { messageOf } from '../../core/errors.ts';
import { printableLine } from '../../core/text/printable.ts';
import { unpackedProgram } from './unpackedProgram.ts';

try {
  const { node, entry } = unpackedProgram(process.env);
  process.execPath = node;
  process.argv[1] = entry;
  // In the module of a single executable, `import` finds the modules of Node.js only; in a script, it finds files. Node.js warns that this is new.
  process.removeAllListeners('warning');
  const options = { importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER };
  await new vm.Script(`import(${JSON.stringify(pathToFileURL(entry).href)})`, options).runInThisContext();
} catch (error) {
  process.stderr.write(`farwharf: ${printableLine(messageOf(error))}\n`);
  process.exitCode = 1;
}
