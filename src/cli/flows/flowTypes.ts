import { dirname, relative, resolve } from 'node:path';
import { setUpTypes } from '../../flows/project/setUpTypes.ts';
import type { Context } from '../command/commandContext.ts';

/** `farwharf flow types`: writes the declarations of the library into a folder. JSON: `{ path, status }`. */
export async function writeFlowTypes({ terminal, cwd, program }: Context, folder: string): Promise<void> {
  const setUp = await setUpTypes(resolve(cwd, folder), dirname(program.flowRuntime.runner));
  if (terminal.json(setUp)) return;
  const path = relative(cwd, setUp.path);
  if (setUp.status === 'installed') terminal.note(`${path} is already installed, with its own types.`);
  else terminal.answer(`${path} now has the types. npm may remove it; run this again if it does.`);
}
