import { userInfo } from 'node:os';
import * as z from 'zod';
import type { Operator } from '../store/accounts/auditEntry.ts';

/** The header with the operator, as JSON. */
export const OPERATOR_HEADER = 'x-farwharf-operator';
const name = z.string().min(1).max(100);
const operatorSchema = z.object({ user: name, uid: z.int().min(0).optional(), sudo_user: name.optional() });

/** Who runs this process. */
export function currentOperator(env: NodeJS.ProcessEnv): Operator {
  const uid = process.getuid?.();
  const sudoUser = name.safeParse(env['SUDO_USER']).data;
  return {
    user: userName(),
    ...(uid !== undefined && { uid }),
    ...(sudoUser !== undefined && { sudo_user: sudoUser }),
  };
}

/** The operator that a command on the socket names. The kernel admits only the service's user and root there. */
export function readOperator(header: string | undefined): Operator {
  try {
    return operatorSchema.parse(JSON.parse(header ?? ''));
  } catch {
    return { user: 'unknown' };
  }
}

/** Encoded for a header, which may contain ASCII only. */
export function writeOperator(operator: Operator): string {
  return JSON.stringify(operator).replaceAll(/[^ -~]/g, (each) =>
    [...Array(each.length).keys()].map((at) => `\\u${each.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''),
  );
}

function userName(): string {
  try {
    return userInfo().username.slice(0, 100) || 'unknown';
  } catch {
    return 'unknown'; // a user ID without a name, as in containers
  }
}
