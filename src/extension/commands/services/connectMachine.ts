import { connectMachine as connect } from '../../services/connectMachine.ts';
import type { Command } from '../command.ts';

export const connectMachine: Command = ({ services }) => connect(services);
