import * as z from 'zod';
import { imageName, SCHEMES } from '../../../remote/protocol/termValues.ts';
import { shellWord } from '../../../core/text/shellWord.ts';

const WHERE = new RegExp(`^(?:/|(?:${SCHEMES})://)`);
const OUTSIDE =
  'must begin with "/" or with docker://, oras://, library:// or https://, because Apptainer would look for anything else in the files of the job';
const NO_SETTING =
  'needs a container without an image, so that jobs can choose one:  container = { runtime = "apptainer" }';

/** The container of a class's jobs. */
export const containerSettings = z.strictObject({
  runtime: z.enum(['apptainer', 'pyxis']),
  /** The image of all jobs of the class. Without it, jobs choose among those that the class allows. */
  image: imageName.optional(),
});

/** An image, or the beginning of images with `*` after it. */
export const imagePattern = z
  .string()
  .refine(
    (text) => imageName.safeParse(text.replace(/\*$/, '')).success,
    'must be an image, or the beginning of images, like "/images/*"',
  );

const HAS_RUNTIME = {
  apptainer: 'apptainer exec --help 2>/dev/null | grep -q -e --no-eval',
  pyxis: 'srun --help 2>/dev/null | grep -q -e --container-image',
};

/** A class as far as its containers are concerned. */
interface WithContainer {
  readonly container?: z.infer<typeof containerSettings> | undefined;
  readonly allow: { readonly images: readonly string[] };
}

/** Reports settings of a class that contradict each other. */
export function checkContainer({ container, allow: { images } }: WithContainer, context: z.RefinementCtx): void {
  const issue = (path: string[], message: string): void => context.addIssue({ code: 'custom', path, message });
  if (images.length > 0 && (container === undefined || container.image !== undefined)) {
    issue(['allow', 'images'], NO_SETTING);
  }
  if (container === undefined) return;
  if (container.image === undefined && images.length === 0)
    issue(['container'], 'needs an image, or allow = { images = [ … ] }');
  if (container.runtime !== 'apptainer') return;
  if (container.image !== undefined && !WHERE.test(container.image)) issue(['container', 'image'], OUTSIDE);
  if (images.some((image) => !WHERE.test(image))) issue(['allow', 'images'], OUTSIDE);
}

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
