import { formatCount } from '../../core/text/format.ts';
import { diagnose } from '../../flows/language/diagnose.ts';
import type { Context } from '../command/commandContext.ts';
import { EXIT } from '../command/exit.ts';
import { readFlowFile, withoutFlows } from './flowFile.ts';

/**
 * `farwharf flow check`: the problems of flow files, one line each as compilers print them, without running them. JSON: `{ file, diagnostics }` for
 * each file. Exit status 1 if there are errors.
 */
export async function checkFlows(
  context: Context,
  first: string,
  _flags: object,
  rest: readonly string[],
): Promise<number> {
  let hasErrors = false;
  for (const file of [first, ...rest]) {
    hasErrors = (await checkFlow(context, file, rest.length > 0 ? `${file}: ` : '')) || hasErrors;
  }
  return hasErrors ? EXIT.failed : EXIT.done;
}

/** Whether the file has errors. @param prefix of the summary, which names the file where there are several. */
async function checkFlow(context: Context, argument: string, prefix: string): Promise<boolean> {
  const { terminal } = context;
  const read = await readFlowFile(argument, context);
  const diagnostics = diagnose(read);
  terminal.json({ file: read.file, diagnostics });
  for (const { code, severity, message, range, related } of diagnostics) {
    const { line, column } = range.start;
    terminal.answer(`${argument}:${line + 1}:${column + 1}: ${severity} ${code}: ${message}`);
    for (const { message: note, range: place } of related) {
      terminal.answer(`    ${place.file}:${place.start.line + 1}:${place.start.column + 1}: ${note}`);
    }
  }
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  const warnings = diagnostics.filter(({ severity }) => severity === 'warning').length;
  const flows = formatCount(read.flows.length, 'flow');
  const why = read.flows.length === 0 ? `. ${withoutFlows(read.file)}` : '';
  terminal.note(`${prefix}${flows}: ${formatCount(errors, 'error')}, ${formatCount(warnings, 'warning')}${why}`);
  return errors > 0;
}
