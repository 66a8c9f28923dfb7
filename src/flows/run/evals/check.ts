import * as z from 'zod';
import { patternFault } from '../../../core/text/patterns.ts';

const judgeSchema = z.strictObject({
  /** The question, with `{{key}}` for values of the final state. */
  prompt: z.string().min(1).max(20_000),
  provider: z.string().optional(),
  model: z.string().optional(),
  baseUrl: z.string().optional(),
  /** The lowest score that passes. */
  min: z.number().min(0).max(1).optional(),
});

const checkSchema = z.strictObject({
  $exact: z.json().optional(),
  $matches: z.string().max(10_000).optional(),
  $schema: z.record(z.string(), z.unknown()).optional(),
  $judge: z.union([judgeSchema.shape.prompt.transform((prompt) => ({ prompt })), judgeSchema]).optional(),
});

export type Judge = z.output<typeof judgeSchema>;

/** What a value of the final shared state must be. */
export type EvalCheck = {
  /** The key, or a path such as `report.title`. */
  readonly key: string;
} & (
  | { readonly type: 'exact'; readonly value: unknown; readonly isText: boolean }
  | { readonly type: 'matches'; readonly pattern: string }
  | { readonly type: 'schema'; readonly schema: Readonly<Record<string, unknown>> }
  | { readonly type: 'judge'; readonly judge: Judge }
);

export const scoreSchema = z.object({
  score: z.number(),
  isPassed: z.boolean(),
  /** Why it failed, or what the judge says. */
  detail: z.string().optional(),
  /** US dollars that the judge cost, if known. */
  cost: z.number().optional(),
});

/** The result of one check, from 0 to 1. */
export type Score = z.infer<typeof scoreSchema>;

/** The name of a check in tables: `answer`, `answer matches`. */
export function checkName({ key, type }: EvalCheck): string {
  return type === 'exact' ? key : `${key} ${type}`;
}

/**
 * The checks of one key: a value that it must be equal to, or an object with `$matches`, `$schema`, `$judge` or `$exact`.
 *
 * @param isText whether the value comes from a CSV file, which has only texts.
 * @returns the checks, or why there are none.
 */
export function readChecks(key: string, expected: unknown, isText = false): readonly EvalCheck[] | string {
  if (!isCheck(expected)) return [{ key, type: 'exact', value: expected, isText }];
  const parsed = checkSchema.safeParse(expected);
  if (!parsed.success) return `expect.${key}: ${parsed.error.issues[0]?.message ?? 'it is not a check'}`;
  const { $exact, $matches, $schema, $judge } = parsed.data;
  const fault = $matches === undefined ? undefined : patternFault($matches);
  if (fault !== undefined) return `expect.${key}: ${fault}`;
  // With both, an untrusted data set could send the provider's key to any address.
  if ($judge !== undefined && 'provider' in $judge && $judge.provider !== undefined && $judge.baseUrl !== undefined) {
    return `expect.${key}: $judge takes either a provider or a baseUrl`;
  }
  return [
    ...($exact === undefined ? [] : [{ key, type: 'exact', value: $exact, isText } as const]),
    ...($matches === undefined ? [] : [{ key, type: 'matches', pattern: $matches } as const]),
    ...($schema === undefined ? [] : [{ key, type: 'schema', schema: $schema } as const]),
    ...($judge === undefined ? [] : [{ key, type: 'judge', judge: $judge } as const]),
  ];
}

function isCheck(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const keys = Object.keys(value);
  return keys.length > 0 && keys.every((key) => key.startsWith('$'));
}
