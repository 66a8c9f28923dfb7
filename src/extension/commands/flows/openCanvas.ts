import { readFlowTarget } from '../../flows/documents/flowTarget.ts';
import { withArgument } from '../command.ts';

export const openCanvas = withArgument(readFlowTarget, ({ flows }, target) => flows().openCanvas(target));
