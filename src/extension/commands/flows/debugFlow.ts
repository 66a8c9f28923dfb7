import { readFlowTarget } from '../../flows/documents/flowTarget.ts';
import { withArgument } from '../command.ts';

export const debugFlow = withArgument(readFlowTarget, ({ flows }, target) => flows().starter.start(target, 'debug'));
