import type * as z from 'zod';
import { shellWord } from '../../../core/text/shellWord.ts';
import type { containerSettings } from './containerConfig.ts';

const HAS_RUNTIME = {
  apptainer: 'apptainer exec --help 2>/dev/null | grep -q -e --no-eval',
  pyxis: 'srun --help 2>/dev/null | grep -q -e --container-image',
};

/**
 * Lines of bash that write what a node lacks for the containers of a class to file descriptor 3: `no-runtime`, and `image PATH` for each
 * image that is no readable file. Images that are fetched are not checked.
 *
 * @param allowed those that jobs may choose.
 */
export function reportContainer(
  { runtime, image }: z.infer<typeof containerSettings>,
  allowed: readonly string[],
): readonly string[] {
  const files = [...(image === undefined ? [] : [image]), ...allowed].filter((path) => path.startsWith('/'));
  return [
    `${HAS_RUNTIME[runtime]} || echo no-runtime >&3`,
    `for one in ${files.map(shellWord).join(' ')}; do [ -r "$one" ] || echo "image $one" >&3; done`,
  ];
}
