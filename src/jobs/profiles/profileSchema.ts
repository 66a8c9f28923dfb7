import * as z from 'zod';
import { JOB_TERMS, termsWith, type TermWith } from '../../remote/protocol/jobTerms.ts';
import { imageName, moduleName } from '../../remote/protocol/termValues.ts';
import { checkMatrix, matrix } from './matrix.ts';
import { notebookParameters } from './notebookParameters.ts';

const MOST_PROFILES = 200;
const MOST_ITEMS = 1_000;
// All of them are shown before the user agrees to send them.
const MOST_INCLUDED = 50;

/** Text that matches a pattern. The editor shows the same message as the command line. */
function matching(pattern: RegExp, message: string, description: string, maxLength = 1_000) {
  return z.string().max(maxLength).regex(pattern, message).meta({ description, patternErrorMessage: message });
}

const VARIABLE = String.raw`\$(?!\{)|\$\{(?:(?:env|matrix):[A-Za-z_]\w*|workspaceFolder|file)\}`;
const VARIABLES = 'Its variables are ${env:NAME}, ${matrix:NAME}, ${workspaceFolder} and ${file}.';
const ONE_LINE = `Must be one line of text. ${VARIABLES}`;
const oneLine = (description: string, start = '(?=.*\\S)') =>
  matching(new RegExp(`^${start}(?:[^$\\r\\n\\0]|${VARIABLE})*$`), ONE_LINE, description);
const text = (description: string, maxLength: number) =>
  matching(new RegExp(`^(?:[^$\\0]|${VARIABLE})*$`), `Must be text without NUL. ${VARIABLES}`, description, maxLength);
const innerPath = (description: string) =>
  matching(
    /^(?![/\\]|[A-Za-z]:)(?!(?:.*[/\\])?\.\.(?:[/\\]|$))(?!.*\$\{)[^\r\n\0]+$/,
    'Must be a path inside the folder, without variables.',
    description,
    300,
  );

// 80 characters are at most 255 bytes, the most that file systems take. Control characters and marks of direction would make a name look like
// another; joiners stay, because scripts need them.
const UNSEEN = String.raw`\u0000-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff`;
const RESULTS_NAME = String.raw`[^\s./\\:$${UNSEEN}](?:[^/\\:$${UNSEEN}]{0,78}[^\s/\\:$${UNSEEN}])?`;

type TermFields = {
  [Name in TermWith<'profile'>]: z.ZodOptional<
    Name extends TermWith<'hasVariables'> ? z.ZodString : (typeof JOB_TERMS)[Name]['accepted']
  >;
};

function termFields(): TermFields;
function termFields(): z.ZodRawShape {
  const fields = termsWith('profile').map((name) => {
    const { profile: description, accepted, ...term } = JOB_TERMS[name];
    return [name, ('hasVariables' in term ? oneLine(description) : accepted.describe(description)).optional()] as const;
  });
  return Object.fromEntries(fields);
}

const { maxRuntime, machineClass, project, ...otherTerms } = termFields();

/** A job with a name, as written in the file. */
const profile = z
  .strictObject({
    script: oneLine('The file to run, with arguments if you like, as in a terminal: "train.py --epochs 3".').optional(),
    command: z
      .array(text('The program, or one argument; spaces need no quotes.', 32_000))
      .min(1)
      .max(MOST_ITEMS)
      .describe(
        'What runs in place of a script: a program and its arguments, without a shell: ["torchrun", "--nproc-per-node", "2", "train.py"].',
      )
      .optional(),
    arguments: z
      .array(oneLine('One argument; spaces need no quotes.', ''))
      .max(MOST_ITEMS)
      .describe('More arguments, one each.')
      .optional(),
    parameters: notebookParameters(
      text('A text, or with "${matrix:NAME}" alone the value of a parameter of the matrix.', 4_000),
      VARIABLES,
    )
      .describe(
        'Values for variables of a notebook for Python, which are set after its cell with the tag "parameters": { "alpha": 0.5, "names": ["a"] }.',
      )
      .optional(),
    maxRuntime,
    machineClass,
    project,
    service: matching(
      /^[\w.-]+(?::\d{1,5})?(?:\/[\w./-]*)?$/,
      'Must be the name of a service that you use, such as gpu.example.org, or local; not a URL.',
      'One of your services, by its name, such as "gpu.example.org"; "local" for this machine. Farwharf asks once before it sends the folder there.',
    ).optional(),
    environment: z
      .record(
        z.string().regex(/^(?!FARWHARF_)[A-Za-z_]\w*$/, 'Must be the name of an environment variable.'),
        text('The value of the variable.', 100_000),
      )
      .describe(
        'Environment variables of the job. "${env:NAME}" passes on a variable of yours; Farwharf asks before it is read.',
      )
      .optional(),
    ...otherTerms,
    modules: z
      .array(moduleName)
      .max(MOST_ITEMS)
      .describe(
        'Environment modules that the cluster of the service loads for the job: ["cuda/12.4"]. The machine class must allow them.',
      )
      .optional(),
    container: imageName
      .describe(
        'The image of the container in which the cluster runs the job: "docker://python:3.12". The machine class must allow it.',
      )
      .optional(),
    requirements: innerPath(
      'A list of packages that are installed before the job starts: "requirements.txt", "uv.lock", "environment.yml", "package-lock.json" or the lock file of another tool.',
    ).optional(),
    include: z
      .array(innerPath('A path in the folder.'))
      .max(MOST_INCLUDED)
      .describe(
        'Paths or patterns of what to send although a rule leaves it out: "data/train.bin", "data/*.csv". A link sends what it leads to. Farwharf asks once before it sends them.',
      )
      .optional(),
    exclude: z
      .array(innerPath('A path in the folder.'))
      .max(MOST_ITEMS)
      .describe('Paths or patterns of what not to send.')
      .optional(),
    results: matching(
      new RegExp(`^${RESULTS_NAME}(?:/${RESULTS_NAME})*$`),
      'Must be a folder inside this one, with / and without hidden names, invisible characters or names of more than 80 characters, such as results/train.',
      'The folder for the results, relative to this one: "results/train".',
    ).optional(),
    matrix: matrix.optional(),
    concurrency: z
      .int()
      .min(1)
      .describe('With a matrix: how many of its jobs may run or wait at the service at the same time.')
      .optional(),
    maxCost: z
      .number()
      .nonnegative()
      .describe(
        'With a matrix: the maximum cost of all of its jobs together, in credits. No job is sent that could exceed it.',
      )
      .optional(),
  })
  .superRefine(checkMatrix)
  .describe('A job with a name, or with a matrix a sweep of jobs.');
export type Profile = Readonly<z.output<typeof profile>>;

/** The structure of `farwharf.json`. */
export const profileFile = z
  .strictObject({
    $schema: z.string().optional(),
    profiles: z
      .record(z.string().regex(/^\w[\w.-]{0,63}$/, 'Must consist of letters, digits, ".", "_" and "-".'), profile)
      .refine((profiles) => Object.keys(profiles).length <= MOST_PROFILES, `Must be at most ${MOST_PROFILES} profiles.`)
      .describe('Jobs by name: farwharf submit --profile NAME.'),
  })
  .describe('Jobs of this folder for Farwharf.');
