import { plainText } from '../core/terminalText.ts';
import { LOCAL_HOST } from '../jobs/host.ts';

/** A host as people call it: `this machine`, `gpu.example.org`. */
export function hostLabel(host: string): string {
  return host === LOCAL_HOST ? 'this machine' : plainText(host.replace(/^https?:\/\//, ''));
}
