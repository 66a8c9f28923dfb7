import { readFlowTarget } from '../../flows/documents/flowTarget.ts';
import { withArgument } from '../command.ts';

export const readFlowByRunning = withArgument(readFlowTarget, ({ flows }, target) => flows().readByRunning(target));
