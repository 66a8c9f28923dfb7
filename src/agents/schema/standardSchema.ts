/**
 * A schema of any library that follows Standard Schema (standardschema.dev), as zod 4, valibot and arktype do. `Output` is the type of
 * a value that it accepts.
 */
export interface Schema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Whether a value follows Standard Schema. The schemas of some libraries are functions. */
export function isSchema(value: unknown): value is Schema {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  const standard: unknown = Reflect.get(value, '~standard');
  return typeof standard === 'object' && standard !== null && 'validate' in standard;
}

/** The value of one that matches, or a line for each issue of one that does not. */
export type Checked<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly issues: string };

/** Checks a value. Defaults and transforms of the schema are applied to it. */
export async function checkWith<T>(schema: Schema<T>, value: unknown): Promise<Checked<T>> {
  const result = await schema['~standard'].validate(value);
  if (result.issues === undefined) return { ok: true, value: result.value };
  return { ok: false, issues: result.issues.map((issue) => `- ${placeOf(issue)}: ${issue.message}`).join('\n') };
}

function placeOf({ path = [] }: SchemaIssue): string {
  return path.map((part) => String(typeof part === 'object' ? part.key : part)).join('.') || 'the value';
}
