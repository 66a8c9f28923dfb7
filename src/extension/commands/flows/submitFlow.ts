import { readFlowTarget } from '../../flows/documents/flowTarget.ts';
import { withArgument } from '../command.ts';

export const submitFlow = withArgument(readFlowTarget, ({ flows }, target) => flows().starter.startJob(target));
