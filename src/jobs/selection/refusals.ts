import * as l10n from '@vscode/l10n';
import type * as z from 'zod';
import { COMMAND_REFUSALS } from '../../remote/protocol/command.ts';
import { SECRET_REFUSALS } from '../../remote/protocol/secret.ts';

/**
 * Why a command, or the name or value of a secret, is refused: the rest of a sentence that begins with it, in the language of the user.
 * Undefined if it is not. Services say the same in English.
 */
export function valueRefusal(schema: z.ZodType, value: unknown): string | undefined {
  const message = schema.safeParse(value).error?.issues[0]?.message;
  switch (message) {
    case COMMAND_REFUSALS.program:
      return l10n.t('must begin with the name of a program');
    case COMMAND_REFUSALS.words:
      return l10n.t('must be at most 1000 words. Write a longer command into a script');
    case COMMAND_REFUSALS.bytes:
      return l10n.t('must be at most 32 KB. Write a longer command into a script');
    case COMMAND_REFUSALS.nul:
      return l10n.t('must not contain NUL');
    case SECRET_REFUSALS.length:
      return l10n.t('must have at most 64 characters');
    case SECRET_REFUSALS.characters:
      return l10n.t('must be capital letters, digits and "_", and not begin with a digit');
    case SECRET_REFUSALS.changesPrograms:
      return l10n.t('is a variable that changes which programs run or how they load');
    case SECRET_REFUSALS.short:
      return l10n.t('must have at least 4 characters');
    case SECRET_REFUSALS.long:
      return l10n.t('must have at most 32 KB');
    case undefined:
    default:
      return message;
  }
}
