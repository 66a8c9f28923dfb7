// Lets modules that import `vscode` be loaded in a bare Node: import this first.
import { createRequire, registerHooks } from 'node:module';
import { join } from 'node:path';

const URL = 'stand-in:vscode';
const stub = join(import.meta.dirname, 'vscodeStub.cjs');
// Reading the API's declarations is no part of what is measured. Node finds no names in a CommonJS module that assigns them.
const names = Object.keys(createRequire(import.meta.url)(stub) as object);
const source = `
  import { createRequire } from 'node:module';
  export const { ${names.join(', ')} } = createRequire(${JSON.stringify(stub)})(${JSON.stringify(stub)});
`;
registerHooks({
  resolve: (specifier, context, nextResolve) =>
    specifier === 'vscode' ? { url: URL, format: 'module', shortCircuit: true } : nextResolve(specifier, context),
  load: (url, context, nextLoad) =>
    url === URL ? { source, format: 'module', shortCircuit: true } : nextLoad(url, context),
});
