import { messageOf } from '../../core/errors.ts';
import { machineClass, machineClassList } from '../config/machineClasses.ts';
import { type Check, type CheckContext, defineExecutor } from '../executor/executorKind.ts';
import { describeIsolation, findIsolation, unisolatedRefusal } from './isolation.ts';
import { type ProcessSettings, processSettings } from './processConfig.ts';
import { createProcessExecutor } from './processExecutor.ts';

/** Runs jobs as processes on the service's machine. */
export const processKind = defineExecutor({
  shape: { process: processSettings.prefault({}), machine_classes: machineClassList(machineClass).optional() },

  async create({ process: settings }, context) {
    const isolation = await findIsolation(settings, context);
    context.log.info(describeIsolation(isolation));
    const refusal = unisolatedRefusal(isolation, context.accounts);
    if (refusal !== undefined) context.log.warn(refusal);
    return createProcessExecutor({ ...context, settings, isolation });
  },

  check: async ({ process: settings }, context) => [await checkIsolation(settings, context)],
});

async function checkIsolation(settings: ProcessSettings, context: CheckContext): Promise<Check> {
  try {
    const isolation = await findIsolation(settings, context);
    const accounts = await context.accounts();
    return { what: describeIsolation(isolation), problem: unisolatedRefusal(isolation, () => accounts) };
  } catch (error) {
    return { what: 'jobs are isolated', problem: messageOf(error) };
  }
}
